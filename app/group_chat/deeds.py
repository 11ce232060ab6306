"""What was done to the files of a conversation, a deed for each turn and each restore: pure, from rows of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.hands.undo.tally import Tally
from app.workspace.rows import StepRow
from app.workspace.steps import RESTORE


@dataclass(frozen=True, slots=True)
class Deed:
    """The steps of one turn that changed something, or one restore, which is a deed like any other."""

    id: str
    """That of the turn; of a restore its own."""
    steps: tuple[StepRow, ...]
    """Those that have ended, oldest first; at least one."""

    @property
    def started(self) -> str:
        return self.steps[0].started

    @property
    def tally(self) -> Tally:
        return Tally.of(self.steps[-1].tally)

    @property
    def is_restore(self) -> bool:
        return self.steps[0].tool == RESTORE

    @property
    def undoes(self) -> str:
        """The deed that a restore took back all of; empty for every other."""
        first = self.steps[0]
        return first.undoes or "" if first.call_id == "" else ""


def deeds_of(rows: Iterable[StepRow]) -> tuple[Deed, ...]:
    """``rows`` in their order; deeds in that of their first steps. A turn that came back to where it began is none."""
    found: dict[str, list[StepRow]] = {}
    for row in rows:
        if row.after is not None:
            found.setdefault(row.turn, []).append(row)
    deeds = (Deed(id, tuple(steps)) for id, steps in found.items())
    return tuple(deed for deed in deeds if deed.tally.files)


def undone(deeds: Sequence[Deed]) -> Mapping[str, Deed]:
    """The deeds that are taken back as things stand, each with the restore that did it."""
    by: dict[str, Deed] = {}
    for deed in deeds:
        if deed.undoes:
            by = {id: other for id, other in by.items() if other.id != deed.undoes}
            by[deed.undoes] = deed
    return by
