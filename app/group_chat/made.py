"""What a conversation made in its workspace, found in the steps that are kept: deleting that again loses nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from app.hands.errors import SnapshotTrouble
from app.hands.undo.history import History
from app.workspace.rows import StepRow
from app.workspace.steps import RESTORE

MOST_LOOKED_AT = 50_000
"""Names in a folder; of a larger one it is not said that all was made."""


class Made:
    """Learns from the steps of one conversation as they end. Looks at the disk, so it is asked in a thread."""

    def __init__(
        self, workspace: Path, history: Callable[[], History], steps: Callable[[], Sequence[StepRow]]
    ) -> None:
        """``steps`` are those of the conversation, the oldest first."""
        self._workspace = workspace.resolve()
        self._history = history
        self._steps = steps
        self._looked_at: set[str] = set()
        self._made: set[str] = set()

    def covers(self, path: str) -> bool:
        """Whether the conversation made that file or folder, and everything that lies in it now."""
        place = Path(path)
        if not place.is_relative_to(self._workspace) or place == self._workspace:
            return False
        self._learn()
        return self._is_made(place) and all(self._is_made(each) for each in _below(place))

    def _learn(self) -> None:
        rows = [row for row in self._steps() if row.after is not None and row.id not in self._looked_at]
        if not rows:
            return
        history = self._history()
        for row in rows:
            self._looked_at.add(row.id)
            try:
                changes = history.changes([history.step(row.before, row.after or "")])
            except SnapshotTrouble:
                continue  # given up since: what it made asks
            if row.tool != RESTORE:  # what that brings back may be the user's
                self._made |= {change.path for change in changes if change.kind == "added"}
            self._made -= {change.path for change in changes if change.kind == "removed"}

    def _is_made(self, place: Path | None) -> bool:
        return place is not None and str(place.relative_to(self._workspace)) in self._made


def _below(place: Path) -> list[Path | None]:
    """All that lies in a folder, links not followed; None stands for what is too much to look at."""
    found: list[Path | None] = []
    for folder, folders, files in os.walk(place):
        found += (Path(folder, name) for name in (*folders, *files))
        if len(found) > MOST_LOOKED_AT:
            return [None]
    return found
