"""Turns: who has been answering, since when, and how it ended. One session has one live turn at most.

A turn that a crash cut off is still ``running`` at the next start; ``mark_interrupted`` closes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import Tuple, fn

from app.models.fields import clean_text
from app.models.statements import HOLE, ONE
from app.models.tables import Message, Task, Turn
from app.workspace.conversations import raise_revision
from app.workspace.errors import NotFound, TurnLive
from app.workspace.messages import add_message, update_message
from app.workspace.rows import EndState, MessageRow, TurnRow, TurnState
from app.workspace.store import Store

_BY_ID = Turn.select().where(Turn.id == HOLE)
_OF_CONVERSATION = Turn.select().where(Turn.conversation == HOLE)
_LIVE = _OF_CONVERSATION.where(Turn.state == HOLE).order_by(Turn.started, Turn.id)
_NEWEST = _OF_CONVERSATION.order_by(Turn.started.desc(), Turn.id.desc()).limit(HOLE)
_LAST = _OF_CONVERSATION.where(Turn.task.is_null()).order_by(Turn.started.desc()).limit(ONE)
_LAST_OF_SESSION = Turn.select().where(Turn.session == HOLE).order_by(Turn.started.desc()).limit(ONE)
_BUSY = Turn.select().where(Turn.session == HOLE, Turn.state == HOLE).limit(ONE)
_LATEST = Turn.select(fn.MAX(Turn.started)).where(Turn.conversation == HOLE)
_STREAMING = (
    Message.select(Message.id, Message.kind)
    .where(Message.turn == HOLE, Message.state == HOLE)
    .order_by(Message.position)
)
_JOBS = Turn.select(Turn.id).where(
    Turn.conversation == HOLE,
    Turn.task.in_(
        Task.select(Task.id).where(Task.conversation == HOLE, Task.kind != HOLE, Task.asker != HOLE)
    ),
)


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
    if conversation_id is not None:
        return store.database.rows(TurnRow, _LIVE, conversation_id, "running")
    query = Turn.select().where(Turn.state == "running")
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
    return store.database.rows(TurnRow, _NEWEST, conversation_id, limit)[::-1]


def list_of_tasks(store: Store, tasks: Collection[str]) -> list[TurnRow]:
    """The turns that worked on these, oldest first."""
    query = Turn.select().where(Turn.task.in_(list(tasks)))
    return store.database.rows(TurnRow, query.order_by(Turn.started))


def list_jobs(store: Store, conversation_id: str) -> frozenset[str]:
    """The turns that worked on a task of another member: their words are its result.

    What a plan or the user began is not.
    """
    turns = store.database.values(_JOBS, conversation_id, conversation_id, "plan", "user")
    return frozenset(id for (id,) in turns)


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
    return store.database.find(TurnRow, _LAST, conversation_id)


def find_last_of_session(store: Store, session_id: str) -> TurnRow | None:
    """The newest one that its member has taken on this history."""
    return store.database.find(TurnRow, _LAST_OF_SESSION, session_id)


def _is_of_plan(store: Store, task: str) -> bool:
    return bool(store.database.values(Task.select(Task.id).where(Task.id == task, Task.kind == "plan")))


def _refuse_second(store: Store, session: str) -> None:
    if live := store.database.find(TurnRow, _BUSY, session, "running"):
        raise TurnLive(f"{live.member} is still answering. Wait for the end of that turn, or stop it first.")


def _start_time(store: Store, conversation_id: str) -> str:
    """Later than every other turn of the conversation, whatever the clock says: it is their order."""
    ((last,),) = store.database.values(_LATEST, conversation_id)
    return store.after(last) if last else store.now()


def _stop_streaming(store: Store, turn_id: str, *, but_forms: bool) -> tuple[MessageRow, ...]:
    streaming = store.database.values(_STREAMING, turn_id, "streaming")
    return tuple(
        update_message(store, message_id, state="interrupted")
        for message_id, kind in streaming
        if kind != "form" or not but_forms
    )
