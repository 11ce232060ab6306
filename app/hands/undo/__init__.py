"""Undo: what the workspace held before and after each step that changes it, and the way back."""
