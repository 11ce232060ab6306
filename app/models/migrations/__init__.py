"""One file per schema change, run in order, a backup taken before each."""
