"""Doubles of the outside world: real small implementations, each beside its own tests' fixtures."""
