"""What steps have come to, as a list of files with the lines that came and went: small enough to be kept and drawn."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from app.hands.permissions.names import shown
from app.hands.undo.history import History
from app.hands.undo.values import Change, File, Step, folders_above

LISTED = 200
"""Files of a tally; the others are counted."""

COUNTED_BYTES = 4 * 1024 * 1024
"""Of the files whose lines are counted at one time, both sides together."""


@dataclass(frozen=True, slots=True)
class Line:
    """One changed path. ``added`` and ``removed`` are lines; None where they are not counted."""

    key: str
    """Names the path in addresses and forms: it is the same in every tally, and any path has one."""
    path: str
    """Printable."""
    kind: Literal["added", "changed", "removed"]
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    files: int = 0
    lines: tuple[Line, ...] = ()
    """The first ``LISTED``, in the order of their names."""

    def kept(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Self:
        kept = kept or {"files": 0, "lines": ()}
        return cls(kept["files"], tuple(Line(**line) for line in kept["lines"]))


def tally(history: History, steps: Sequence[Step], known: Tally | None = None) -> Tally:
    """``known`` is that of all steps but the last: what this one left alone is not counted again.

    Raises ``SnapshotTrouble``.
    """
    changes = told(history.changes(steps))
    same = _untouched(history, steps[-1], known) if known else {}
    lines, left = [], COUNTED_BYTES
    for change in changes[:LISTED]:
        key = key_of(change.path)
        left -= 0 if key in same else _size(change)
        lines.append(same.get(key) or _line(history, change, counted=left >= 0))
    return Tally(len(changes), tuple(lines))


def told(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Without the folders that only hold other changes."""
    changes = tuple(changes)
    holding = {folder for change in changes for folder in folders_above(change.path)}
    return tuple(change for change in changes if change.path not in holding)


def key_of(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _untouched(history: History, step: Step, known: Tally) -> dict[str, Line]:
    touched = {key_of(change.path) for change in history.changes([step])}
    return {line.key: line for line in known.lines if line.key not in touched}


def _line(history: History, change: Change, *, counted: bool) -> Line:
    line = Line(key_of(change.path), shown(change.path), change.kind)
    if not counted:
        return line
    diff = history.text_diff(change)
    return line if diff.note else Line(line.key, line.path, line.kind, diff.added, diff.removed)


def _size(change: Change) -> int:
    return sum(_sizes(change))


def _sizes(change: Change) -> Iterator[int]:
    for side in (change.before, change.after):
        if isinstance(side, File):
            yield side.size
