"""One restore on the snapshots of a folder: what it would come to, and doing it. Blocks; called in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.hands.threads import CheckStop
from app.hands.undo.history import History
from app.hands.undo.tally import Tally, key_of, tally
from app.hands.undo.texts import TextDiff
from app.hands.undo.values import Change, Choice, Conflict, Origin, Outcome, Restored, Step
from app.workspace.errors import NotFound
from app.workspace.rows import StepRow

ALL = ""
"""In the place of a key: the choice for every conflict that has none of its own."""

CHOSEN_ALONE = 20
"""Conflicts that are compared and asked about one by one; where there are more, one choice is for all."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A restore that can be done, or has to be answered first."""

    history: History
    steps: Sequence[Step]
    only: Sequence[str] | None
    choices: Mapping[str, Choice]
    outcome: Outcome
    apart: tuple[TextDiff, ...]
    """Of each conflict, from what stood there before to what stands there now."""
    before: str
    """The snapshot of the folder as it is."""

    @property
    def is_answered(self) -> bool:
        return not self.outcome.conflicts


def plan(
    history: History,
    rows: Sequence[StepRow],
    file: str,
    choices: Mapping[str, Choice],
    origin: Origin,
    stop: CheckStop,
) -> Planned:
    """Of these steps, or of one ``file`` by its key. Choices are by the keys of paths, or for ``ALL``.

    Raises ``SnapshotTrouble``, ``NotFound``.
    """
    done = [step_of(history, row) for row in rows]
    only = [change_of(history, done, file).path] if file else None
    first = history.preview(done, origin, only=only, check_stop=stop)
    chosen = {
        one.path: choice
        for one in first.conflicts
        if (choice := choices.get(key_of(one.path)) or choices.get(ALL))
    }
    outcome = history.preview(done, origin, only=only, choices=chosen, check_stop=stop) if chosen else first
    before = history.take(origin, stop).id
    return Planned(history, done, only, chosen, outcome, _apart(history, outcome.conflicts), before)


def carry_out(planned: Planned, origin: Origin, stop: CheckStop) -> tuple[Restored, Tally]:
    """Raises ``SnapshotTrouble``."""
    done = planned.history.restore(
        planned.steps, origin, only=planned.only, choices=planned.choices, check_stop=stop
    )
    return done, tally(planned.history, [done.step])


def step_of(history: History, row: StepRow) -> Step:
    """Of one that has ended. Raises ``SnapshotTrouble``."""
    return history.step(row.before, row.after or "")


def change_of(history: History, done: Sequence[Step], file: str) -> Change:
    """What steps did to one file, by its key. Raises ``SnapshotTrouble``, ``NotFound``."""
    for change in history.changes(done):
        if key_of(change.path) == file:
            return change
    raise NotFound("This file was not changed there, or it is not kept any more.")


def _apart(history: History, conflicts: Sequence[Conflict]) -> tuple[TextDiff, ...]:
    if len(conflicts) > CHOSEN_ALONE:
        return (TextDiff(),) * len(conflicts)
    return tuple(history.text_diff(Change(one.path, one.theirs, one.ours)) for one in conflicts)
