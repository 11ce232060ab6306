"""Ground floor: clock, ids, files, locks, secrets, feed, logs. Knows no agents."""
