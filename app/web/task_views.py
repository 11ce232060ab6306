"""What the list of tasks receives: each turn that answered the user, and below it the jobs that were given in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.group_chat.outcomes import for_reader
from app.web.member_words import FindAgent, Person, nobody, person
from app.web.plain import first_line
from app.web.times import local
from app.web.tool_words import Shown, cut
from app.workspace.attached import attachments_of
from app.workspace.rows import MessageRow, TaskRow, TaskState, TurnRow, TurnState
from app.workspace.usage import UsageSum

LONGEST_NAME = 120
OUTCOME_LINES = 8
OUTCOME_CHARACTERS = 500
"""Of what came of a task; its page has all of it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How something stands: a mark, the class of its word, and the word."""

    mark: str
    tone: str
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A turn or a task in the list."""

    id: str
    name: str
    who: Person
    standing: Standing
    since: datetime
    seconds: float | None
    """None while it goes on; ``since`` then counts."""
    tokens: int
    """0 while it goes on."""
    cost: float | None
    """US dollars; None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView(Work):
    href: str
    waits: bool
    """It has not begun: nothing is counted yet."""
    outcome: Shown
    stop: str
    """Address that a POST stops it at, while it goes on."""
    retry: str
    """Address that a POST begins it anew at, where it did not come to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView(Work):
    tasks: tuple[TaskView, ...] = ()


def turn_view(
    turn: TurnRow,
    asked: MessageRow | None,
    agents: FindAgent = nobody,
    spent: UsageSum | None = None,
    tasks: Iterable[TaskView] = (),
) -> TurnView:
    """``asked`` is the message that began the turn, where it was one; ``tasks`` were given in it."""
    return TurnView(
        id=turn.id,
        name=turn_name(turn, asked),
        who=person(turn.member, agents),
        standing=_TURNS[turn.state],
        since=local(turn.started),
        seconds=_seconds(turn.started, turn.ended),
        tasks=tuple(tasks),
        **_bill(spent if turn.ended else None),
    )


def turn_name(turn: TurnRow, asked: MessageRow | None) -> str:
    """What it was about: the first line of the message that began it, else the names of its files."""
    again = "Tried again" if turn.trigger == "retry" else "Continued"
    if asked is None:
        return again
    names = ", ".join(file.name for file in attachments_of(asked.data))
    return first_line(asked.text, LONGEST_NAME) or first_line(names, LONGEST_NAME) or again


def task_view(
    row: TaskRow, turn: TurnRow | None, agents: FindAgent = nobody, spent: UsageSum | None = None
) -> TaskView:
    """``turn`` is the newest that works on it, where one does."""
    here = f"/conversations/{row.conversation}"
    began, ended = (turn.started, turn.ended) if turn else (row.created, row.ended)
    return TaskView(
        id=row.id,
        name=first_line(row.job, LONGEST_NAME),
        who=person(row.member, agents),
        standing=_TASKS[row.state],
        since=local(began),
        seconds=_seconds(began, None if row.is_open else ended or row.ended),
        href=f"{here}/tasks/{row.id}",
        waits=row.state == "queued",
        outcome=cut(for_reader(row.outcome or ""), OUTCOME_LINES, OUTCOME_CHARACTERS),
        stop=f"{here}/turns/{row.turn}/stop" if row.is_open and row.turn else "",
        retry=f"{here}/tasks/{row.id}/retry" if _can_retry(row) else "",
        **_bill(None if row.is_open else spent),
    )


def _can_retry(row: TaskRow) -> bool:
    return row.kind != "plan" and row.state in ("failed", "interrupted", "cancelled")


def _seconds(began: str, ended: str | None) -> float | None:
    return (local(ended) - local(began)).total_seconds() if ended else None


def _bill(spent: UsageSum | None) -> dict[str, Any]:
    """Calls whose price is not known make the whole unknown."""
    known = spent is not None and spent.calls > spent.unknown_costs
    return {"tokens": spent.tokens if spent else 0, "cost": spent.cost if spent and known else None}


_TURNS: Mapping[TurnState, Standing] = {
    "running": Standing("live", "", "running"),
    "completed": Standing("tick", "done", "done"),
    "failed": Standing("octagon", "failed", "failed"),
    "aborted": Standing("bar", "idle", "stopped"),
    "interrupted": Standing("broken", "", "interrupted"),
    "limit": Standing("bar", "", "at its limit"),
}
_TASKS: Mapping[TaskState, Standing] = {
    "queued": Standing("", "idle", "waits for its place"),
    "running": Standing("live", "", "running"),
    "waiting_for_form": Standing("diamond", "needs", "needs you"),
    "waiting_for_approval": Standing("diamond", "needs", "needs you"),
    "done": Standing("tick", "done", "done"),
    "failed": Standing("octagon", "failed", "failed"),
    "interrupted": Standing("broken", "", "interrupted"),
    "cancelled": Standing("bar", "idle", "stopped"),
}
