"""Chat and session are written by two hands, so after a crash, or trouble with a disk, either may be a step ahead."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.errors import SessionError
from app.engine.messages import Marker, Message, Text
from app.engine.session import Session
from app.group_chat.events import RoomChange, RowAdded, RowChanged
from app.group_chat.handback import read_handback
from app.group_chat.members import Members
from app.group_chat.roles import COMMANDER, WORKER
from app.infra.logs import failure
from app.workspace import messages, queue, sessions, tasks, turns
from app.workspace.rows import MessageRow, TurnRow
from app.workspace.store import Store

Changes = list[tuple[MessageRow, RoomChange]]
"""Rows that were added or changed, for whoever announces them."""


async def recover_turn(store: Store, members: Members, turn: TurnRow) -> Changes:
    """Close a turn that was cut off, and add a notice that offers to go on.

    Running it again after another crash changes nothing more.
    """
    changes: Changes = []
    row = sessions.find_session(store, turn.session)
    if row is not None and turn.member != WORKER:
        try:
            changes = catch_up(store, await members.open_session(row), turn)
        except SessionError as error:
            failure("session_unreadable", error, turn=turn.id)
    closed = turns.mark_interrupted(store, turn.id).messages
    if turn.task is not None:
        tasks.leave_task(store, turn.task)
    added = [each.data.get("notice") == "interrupted" for each in closed]
    return changes + [
        (each, RowAdded() if is_new else RowChanged()) for each, is_new in zip(closed, added, strict=True)
    ]


def catch_up(store: Store, session: Session, turn: TurnRow) -> Changes:
    """What the session has of the turn stands in the chat too: texts, whole, and messages that were folded in."""
    known = {message.id: _shown(message.text, turn) for message in session.messages}
    waiting = {row.id for row in queue.list_queued(store, turn.conversation)}
    changes: Changes = []
    with store.database.transaction():
        for row in messages.list_of_turn(store, turn.id):
            if row.kind == "assistant" and row.state == "streaming" and row.id in known:
                whole = messages.update_message(store, row.id, text=known[row.id], state="done")
                changes.append((whole, RowChanged()))
        for message in _unshown(store, session):
            if message.id in waiting:
                sent = queue.send_queued(store, [message.id], turn=turn.id, to=turn.member)
                changes += [(row, RowAdded()) for row in sent]
            elif message.role == "assistant" and known[message.id]:
                added = messages.add_message(
                    store,
                    turn.conversation,
                    kind="assistant",
                    member=turn.member,
                    text=known[message.id],
                    turn=turn.id,
                    id=message.id,
                )
                changes.append((added, RowAdded()))
    return changes


async def remember(store: Store, session: Session, turn: TurnRow) -> None:
    """What the chat shows of an ended turn and the session never got is kept there too, with a marker behind it."""
    known = {message.id for message in session.messages}
    missing = [
        Message("assistant", (Text(row.text), Marker("interrupted")), row.id, store.now())
        for row in messages.list_of_turn(store, turn.id)
        if row.kind == "assistant" and row.id not in known and row.text.strip()
    ]
    if missing:
        await session.append(*missing)


def _shown(text: str, turn: TurnRow) -> str:
    """Without the marker by which a member gives the floor back: the chat does not have it."""
    return text if turn.member == COMMANDER else read_handback(text).shown


def _unshown(store: Store, session: Session) -> Sequence[Message]:
    """The texts at the end of the session that the chat does not have."""
    unshown: list[Message] = []
    for message in reversed(session.messages):
        if message.text.strip():
            if messages.find_message(store, message.id) is not None:
                break
            unshown.append(message)
    return unshown[::-1]


def name_cut_off(store: Store, turn: TurnRow) -> None:
    """The notice of a turn that a crash cut off says whose jobs Continue takes up."""
    jobs = [
        [row.member, row.job]
        for row in tasks.list_tasks(store, turn.conversation, given=turn.id)
        if row.state in ("interrupted", "waiting_for_form")
    ]
    for row in messages.list_of_turn(store, turn.id) if jobs else ():
        if row.data.get("notice") == "interrupted":
            messages.update_message(store, row.id, data={**row.data, "jobs": jobs})
