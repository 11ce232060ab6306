"""What led to a turn: the turns that it goes on from, what the user said, the jobs that were given on the way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from app.engine.messages import Message
from app.group_chat.hearing import addressed, unclosed
from app.group_chat.roles import USER
from app.group_chat.visibility import Request
from app.workspace import messages, plans, tasks, turns
from app.workspace.attached import attachments_of
from app.workspace.rows import MessageRow, TaskRow, TurnRow
from app.workspace.store import Store

_LOOKED_BACK = 500
"""Turns among which those are that one goes on from."""


def stretch(store: Store, turn: TurnRow) -> list[TurnRow]:
    """The turn and those that it goes on from, the newest first."""
    rows = [turn]
    earlier = _before(store, turn) if _goes_on(turn) else []
    while earlier and _goes_on(rows[-1]):
        rows.append(earlier.pop())
    return rows


def count_turns(store: Store, turn: TurnRow) -> int:
    """How many turns the user's message has set off by now, whoever took them; a plan's are among them."""
    while (setter := _set_by(store, turn)) is not None:
        turn = setter
    return tasks.count_turns_since(store, turn.conversation, began(store, turn))


def given_before(store: Store, turn: TurnRow) -> list[TaskRow]:
    """The tasks of the turns before, back to the last one that ended as it should, as they were given."""
    earlier = reversed(_before(store, turn))
    cut_off = {row.id for row in takewhile(lambda row: row.state != "completed", earlier)}
    rows = tasks.list_tasks(store, turn.conversation)
    return [row for row in rows if row.given in cut_off and row.asker == turn.member]


def is_heard(task: TaskRow, history: Sequence[Message]) -> bool:
    """Whether a history has what came of a task: as the result of its call, or told afterwards."""
    for message in takewhile(lambda message: message.time >= task.created, reversed(history)):
        if any(one.call_id == task.call_id and one.status in ("ok", "error") for one in message.results):
            return True
        if task.outcome and message.role == "user" and unclosed(task.outcome) in message.text:
            return True
    return False


def led_to(store: Store, turn: TurnRow) -> Sequence[Request]:
    """What the user said that led to a job: what began the turn that gives it, and what that heard meanwhile."""
    rows = stretch(store, turn)[::-1]
    said = {row.id: row for row in _sent_with(store, rows[0])}
    for one in rows:
        said |= {row.id: row for row in messages.list_of_turn(store, one.id) if row.kind == "user"}
    return [Request(row.text, attachments_of(row.data)) for row in said.values()]


def unanswered(store: Store, turn: TurnRow) -> list[str]:
    """Whom else the user called by what began the turn, and who has not answered it: they follow where it goes on."""
    trigger = began(store, turn)
    called = dict.fromkeys(member for row in _sent_together(store, trigger) for member in addressed(row))
    taken = turns.list_turns(store, turn.conversation, _LOOKED_BACK)
    answered = {row.member for row in taken if row.trigger == trigger}
    return [member for member in called if member not in answered]


def began(store: Store, turn: TurnRow) -> str:
    """The trigger of the turn, or of the one that it goes on from."""
    return stretch(store, turn)[-1].trigger


def _sent_with(store: Store, turn: TurnRow) -> list[MessageRow]:
    """The message that began a turn, behind those that its member was sent together with it."""
    rows = _sent_together(store, turn.trigger)
    return [row for row in rows if turn.member in addressed(row) or row.id == turn.trigger]


def _sent_together(store: Store, trigger: str) -> list[MessageRow]:
    """A message of the user, behind those that were sent with it."""
    first = messages.find_message(store, trigger)
    if first is None or first.member != USER:
        return []
    before = messages.list_messages(store, first.conversation, before_position=first.position)
    together = takewhile(lambda row: row.kind == "user" and row.turn is None, reversed(before))
    return [*reversed([*together]), first]


def _set_by(store: Store, turn: TurnRow) -> TurnRow | None:
    """For a turn of a plan the one that set it, where a member did."""
    task = tasks.find_task(store, turn.task) if turn.task else None
    if task is None or task.kind != "plan":
        return None
    setter = plans.load_plan(store, task.given).turn
    return turns.find_turn(store, setter) if setter else None


def _goes_on(turn: TurnRow) -> bool:
    return turn.trigger in ("continue", "retry")


def _before(store: Store, turn: TurnRow) -> list[TurnRow]:
    """The turns of the same member, on the same history, that came before."""
    rows = turns.list_turns(store, turn.conversation, _LOOKED_BACK)
    return [row for row in rows if row.session == turn.session and row.started < turn.started]
