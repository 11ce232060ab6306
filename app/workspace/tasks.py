"""Tasks: the jobs that members give each other, each with its state, kept until the conversation goes."""

from __future__ import annotations

from typing import Any

from peewee import fn

from app.models.fields import clean_text
from app.models.statements import HOLE
from app.models.tables import Task, Turn
from app.workspace.conversations import raise_revision
from app.workspace.errors import NotFound
from app.workspace.rows import OPEN_TASKS, TaskKind, TaskRow, TaskState
from app.workspace.store import Store

_BY_ID = Task.select().where(Task.id == HOLE)
_OF_CONVERSATION = Task.select().where(Task.conversation == HOLE)
_NEWEST = _OF_CONVERSATION.order_by(Task.created.desc(), Task.id.desc()).limit(HOLE)
_NEWEST_GIVEN = (
    _OF_CONVERSATION.where(Task.given == HOLE).order_by(Task.created.desc(), Task.id.desc()).limit(HOLE)
)
_GIVEN = Task.select().where(Task.given == HOLE).order_by(Task.created, Task.id)


def add_task(
    store: Store,
    conversation_id: str,
    *,
    kind: TaskKind,
    asker: str,
    member: str,
    job: str,
    given: str,
    call_id: str,
) -> TaskRow:
    """It waits for its place. Raises ``NotFound``."""
    with store.database.transaction():
        row = TaskRow(
            id=store.new_id("task"),
            conversation=conversation_id,
            revision=raise_revision(store, conversation_id),
            kind=kind,
            asker=clean_text(asker),
            member=clean_text(member),
            job=clean_text(job),
            given=given,
            call_id=clean_text(call_id),
            turn=None,
            state="queued",
            outcome=None,
            created=store.now(),
            ended=None,
        )
        store.database.insert(Task, row)
    return row


def move_task(store: Store, id: str, state: TaskState) -> TaskRow:
    """One that is open goes on to another state; one that has ended stays as it ended. Raises ``NotFound``."""
    with store.database.transaction():
        row = load_task(store, id)
        return _change(store, row, state=state) if row.is_open and row.state != state else row


def work_on_task(store: Store, id: str, turn: str, *, given: str) -> TaskRow:
    """A turn begins to work on it, for the first time or anew; the turn ``given`` waits for it. Raises ``NotFound``."""
    with store.database.transaction():
        row = load_task(store, id)
        return _change(store, row, state="running", turn=turn, given=given, outcome=None, ended=None)


def queue_task(store: Store, id: str) -> TaskRow:
    """One that was cut off, or whose form is answered, waits for its place again; every other one stays as it is.

    Raises ``NotFound``.
    """
    with store.database.transaction():
        row = load_task(store, id)
        was_cut_off = row.state in ("interrupted", "waiting_for_form")
        return _change(store, row, state="queued", ended=None) if was_cut_off else row


def end_task(store: Store, id: str, state: TaskState, outcome: str | None = None) -> TaskRow:
    """How it ended; one that has ended stays so. Raises ``NotFound``."""
    with store.database.transaction():
        row = load_task(store, id)
        return _change(store, row, state=state, outcome=outcome, ended=store.now()) if row.is_open else row


def cancel_task(store: Store, id: str) -> TaskRow:
    """Nobody is to do it any more; one that has ended, and was not cut off, stays so. Raises ``NotFound``."""
    with store.database.transaction():
        row = load_task(store, id)
        can_go_on = row.is_open or row.state == "interrupted"
        return _change(store, row, state="cancelled", ended=store.now()) if can_go_on else row


def interrupt_tasks(store: Store) -> list[TaskRow]:
    """After a start: nobody works on any of them. Those that wait for an answer of the user go on waiting."""
    left = [state for state in OPEN_TASKS if state != "waiting_for_form"]
    with store.database.transaction():
        rows = store.database.rows(TaskRow, Task.select().where(Task.state.in_(left)))
        return [_change(store, row, state="interrupted", ended=store.now()) for row in rows]


def leave_task(store: Store, id: str) -> None:
    """Its turn was cut off: nobody works on it. One that waits for an answer of the user goes on waiting."""
    row = find_task(store, id)
    if row is not None and row.state != "waiting_for_form":
        end_task(store, id, "interrupted")


def find_task(store: Store, id: str) -> TaskRow | None:
    return store.database.find(TaskRow, _BY_ID, id)


def load_task(store: Store, id: str) -> TaskRow:
    """Raises ``NotFound``."""
    row = find_task(store, id)
    if row is None:
        raise NotFound("This task is not there any more.")
    return row


def list_tasks(
    store: Store, conversation_id: str, *, given: str | None = None, limit: int = 200
) -> list[TaskRow]:
    """The newest ones, oldest first; of one turn or of all."""
    if given is None:
        return store.database.rows(TaskRow, _NEWEST, conversation_id, limit)[::-1]
    return store.database.rows(TaskRow, _NEWEST_GIVEN, conversation_id, given, limit)[::-1]


def list_given(store: Store, given: str) -> list[TaskRow]:
    """All that came of a turn, or of a plan, oldest first."""
    return store.database.rows(TaskRow, _GIVEN, given)


def count_open(store: Store, conversation_id: str) -> int:
    return len([row for row in list_tasks(store, conversation_id) if row.is_open])


def count_turns_since(store: Store, conversation_id: str, trigger: str) -> int:
    """How many turns there are from the first on that this message set off."""
    here = Turn.conversation == conversation_id
    since = Turn.select(fn.MIN(Turn.started)).where(here, Turn.trigger == trigger)
    return len(store.database.values(Turn.select(Turn.id).where(here, Turn.started >= since)))


def _change(store: Store, row: TaskRow, **values: Any) -> TaskRow:
    values["revision"] = raise_revision(store, row.conversation)
    store.database.update(Task, row.id, values)
    return load_task(store, row.id)
