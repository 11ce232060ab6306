"""What a tool may touch: path containment and the lists of closed places."""
