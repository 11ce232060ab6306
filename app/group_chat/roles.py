"""Who is in every room, whatever agents there are."""

from __future__ import annotations

USER = "user"
COMMANDER = "commander"
WORKER = "worker"
"""A worker without a name: it has a task of Commander, and no place in the chat."""
