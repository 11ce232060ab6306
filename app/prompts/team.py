"""The team that ships with Plancia: one file each in the folder of this name, as a user's agents are files."""

from __future__ import annotations

from pathlib import Path

TEAM = ("researcher", "coder", "writer", "analyst", "tutor")
"""Their ids, in the order in which they are shown."""

_ROOM = Path(__file__).parent / "team"


def find_shipped(id: str) -> str | None:
    """The file of one of the team, as it ships; None for everybody else."""
    return (_ROOM / f"{id}.md").read_text(encoding="utf-8") if id in TEAM else None
