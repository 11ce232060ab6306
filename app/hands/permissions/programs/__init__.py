"""What programs do with their words: one table per family, and all of them together in ``table.py``."""
