"""Measurements, one file each: ``python -m bench`` or ``make bench`` runs them all, with a name only that one."""
