"""How much undo may keep."""

from __future__ import annotations

from dataclasses import dataclass

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    file_bytes: int = 64 * _MB
    """A larger file is not held."""
    workspace_bytes: int = 1024 * _MB
    """Of all files together. Above it the heaviest folders are left out."""
    entries: int = 100_000
    """Files, links and folders; counted as the bytes are."""
    looked_at: int = 500_000
    """Above it no further folder is entered, the deepest ones first."""
    store_bytes: int = 4096 * _MB
    """Of all snapshots of all workspaces. Above it the oldest are given up."""
    snapshots: int = 2_000
    """Of all workspaces."""


LIMITS = Limits()
