"""What the user keeps: conversations, model sources, settings, usage."""
