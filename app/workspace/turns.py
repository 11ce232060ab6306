"""Turns: who has been answering, since when, and how it ended. One session has one live turn at most.

A turn that a crash cut off is still ``running`` at the next start; ``mark_interrupted`` closes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import Tuple, fn

from app.models.fields import clean_text
from app.models.statements import HOLE
from app.models.tables import Message, Task, Turn
from app.workspace.conversations import raise_revision
from app.workspace.errors import NotFound, TurnLive
from app.workspace.messages import add_message, update_message
from app.workspace.rows import EndState, MessageRow, TurnRow, TurnState
from app.workspace.store import Store

_BY_ID = Turn.select().where(Turn.id == HOLE)


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """An ended turn and the messages that changed with it, in order."""

    turn: TurnRow
    messages: tuple[MessageRow, ...] = ()


def start_turn(
    store: Store,
    conversation_id: str,
    *,
    member: str,
    session: str,
    trigger: str,
    model: str | None = None,
    messages: Sequence[str] = (),
    task: str | None = None,
) -> TurnRow:
    """Begin a turn on the member's session; ``messages`` are the ids of those it answers, they become part of it.

    ``task``: what it is started for, where it does not answer the user.

    Raises ``TurnLive`` where the session is busy, ``NotFound``.
    """
    with store.database.transaction():
        _refuse_second(store, session)
        row = TurnRow(
            id=store.new_id("turn"),
            conversation=conversation_id,
            revision=raise_revision(store, conversation_id),
            member=clean_text(member),
            session=session,
            trigger=clean_text(trigger),
            state="running",
            reason=None,
            error=None,
            model=model,
            started=_start_time(store, conversation_id),
            ended=None,
            task=task,
        )
        store.database.insert(Turn, row)
        for message_id in messages:
            update_message(store, message_id, turn=row.id)
    return row


def end_turn(
    store: Store,
    turn_id: str,
    *,
    state: EndState,
    reason: str | None = None,
    error: Mapping[str, Any] | None = None,
    model: str | None = None,
    ended: str | None = None,
) -> TurnEnd:
    """Close a turn, now or as of ``ended``. Its messages that still stream become ``interrupted``: nothing spins.

    Forms of a turn that was interrupted stay open, for its member to go on with the answers. A turn that has ended
    already stays as it ended. Raises ``NotFound``.
    """
    with store.database.transaction():
        row = load_turn(store, turn_id)
        if row.state != "running":
            return TurnEnd(row)
        stopped = _stop_streaming(store, turn_id, but_forms=state == "interrupted")
        values = {
            "state": state,
            "reason": reason,
            "error": error,
            "model": model or row.model,
            "ended": max(ended or store.now(), row.started),
            "revision": raise_revision(store, row.conversation),
        }
        store.database.update(Turn, turn_id, values)
        return TurnEnd(load_turn(store, turn_id), stopped)


def mark_interrupted(store: Store, turn_id: str) -> TurnEnd:
    """After a crash: close the turn, say so in its messages, and add one notice that offers to go on.

    A second call changes nothing. Raises ``NotFound``.
    """
    with store.database.transaction():
        if load_turn(store, turn_id).state != "running":
            return TurnEnd(load_turn(store, turn_id))
        end = end_turn(store, turn_id, state="interrupted", reason="crash")
        if end.turn.task is not None and not _is_of_plan(store, end.turn.task):
            return end  # who waits for it says so
        notice = add_message(
            store,
            end.turn.conversation,
            kind="notice",
            member=end.turn.member,
            data={"notice": "interrupted", "turn": turn_id},
            turn=turn_id,
        )
        return TurnEnd(end.turn, (*end.messages, notice))


def live_turns(store: Store, conversation_id: str | None = None) -> list[TurnRow]:
    """Turns that have not ended, oldest first; at start those are the ones that a crash cut off."""
    query = Turn.select().where(Turn.state == "running")
    if conversation_id is not None:
        query = query.where(Turn.conversation == conversation_id)
    return store.database.rows(TurnRow, query.order_by(Turn.started, Turn.id))


def find_turn(store: Store, turn_id: str) -> TurnRow | None:
    return store.database.find(TurnRow, _BY_ID, turn_id)


def load_turn(store: Store, turn_id: str) -> TurnRow:
    """As ``find_turn``. Raises ``NotFound``."""
    row = find_turn(store, turn_id)
    if row is None:
        raise NotFound(f'There is no turn "{turn_id}". Its conversation may have been deleted.')
    return row


def list_turns(store: Store, conversation_id: str, limit: int = 50) -> list[TurnRow]:
    """The newest ``limit`` turns, oldest first."""
    query = Turn.select().where(Turn.conversation == conversation_id)
    return store.database.rows(TurnRow, query.order_by(Turn.started.desc(), Turn.id.desc()).limit(limit))[
        ::-1
    ]


def list_of_tasks(store: Store, tasks: Collection[str]) -> list[TurnRow]:
    """The turns that worked on these, oldest first."""
    query = Turn.select().where(Turn.task.in_(list(tasks)))
    return store.database.rows(TurnRow, query.order_by(Turn.started))


def list_jobs(store: Store, conversation_id: str) -> frozenset[str]:
    """The turns that worked on a task of another member: their words are its result.

    What a plan or the user began is not.
    """
    for_another = (Task.kind != "plan") & (Task.asker != "user")
    tasks = Task.select(Task.id).where(Task.conversation == conversation_id, for_another)
    query = Turn.select(Turn.id).where(Turn.conversation == conversation_id, Turn.task.in_(tasks))
    return frozenset(id for (id,) in store.database.values(query))


def last_states(store: Store) -> dict[str, TurnState]:
    """How the newest turn of each conversation stands, by conversation."""
    answers = Turn.task.is_null()
    newest = Turn.select(Turn.conversation, fn.MAX(Turn.started)).where(answers).group_by(Turn.conversation)
    query = Turn.select(Turn.conversation, Turn.state).where(
        Tuple(Turn.conversation, Turn.started).in_(newest)
    )
    return {str(conversation): state for conversation, state in store.database.values(query)}


def count_by_member(store: Store) -> dict[str, int]:
    """How many turns each member has taken, in all conversations that are kept."""
    query = Turn.select(Turn.member, fn.COUNT(Turn.id)).group_by(Turn.member)
    return {str(member): int(count) for member, count in store.database.values(query)}


def find_last_turn(store: Store, conversation_id: str) -> TurnRow | None:
    """The newest one that answered the user: that of which Continue and Retry speak."""
    query = Turn.select().where(Turn.conversation == conversation_id, Turn.task.is_null())
    return store.database.find(TurnRow, query.order_by(Turn.started.desc()))


def find_last_of_session(store: Store, session_id: str) -> TurnRow | None:
    """The newest one that its member has taken on this history."""
    query = Turn.select().where(Turn.session == session_id)
    return store.database.find(TurnRow, query.order_by(Turn.started.desc()))


def _is_of_plan(store: Store, task: str) -> bool:
    return bool(store.database.values(Task.select(Task.id).where(Task.id == task, Task.kind == "plan")))


def _refuse_second(store: Store, session: str) -> None:
    busy = Turn.select().where(Turn.session == session, Turn.state == "running")
    if live := store.database.find(TurnRow, busy):
        raise TurnLive(f"{live.member} is still answering. Wait for the end of that turn, or stop it first.")


def _start_time(store: Store, conversation_id: str) -> str:
    """Later than every other turn of the conversation, whatever the clock says: it is their order."""
    latest = Turn.select(fn.MAX(Turn.started)).where(Turn.conversation == conversation_id)
    ((last,),) = store.database.values(latest)
    return store.after(last) if last else store.now()


def _stop_streaming(store: Store, turn_id: str, *, but_forms: bool) -> tuple[MessageRow, ...]:
    streaming = Message.select(Message.id).where(Message.turn == turn_id, Message.state == "streaming")
    if but_forms:
        streaming = streaming.where(Message.kind != "form")
    ids = store.database.values(streaming.order_by(Message.position))
    return tuple(update_message(store, message_id, state="interrupted") for (message_id,) in ids)
