"""The room: one bus, one dispatch path, turns, the queue, recovery after a crash."""
