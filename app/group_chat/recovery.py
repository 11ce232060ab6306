"""Chat and session are written by two hands, so after a crash either may be a step ahead of the other."""

from __future__ import annotations

from app.engine.errors import SessionError
from app.engine.messages import Marker, Message, Text
from app.engine.session import Session
from app.group_chat.members import Members
from app.infra.logs import failure
from app.workspace import messages, queue, sessions, turns
from app.workspace.rows import TurnRow
from app.workspace.store import Store
from app.workspace.turns import TurnEnd


async def recover_turn(store: Store, members: Members, turn: TurnRow) -> TurnEnd:
    """Close a turn that was cut off: the chat gets what the session has of it, and a notice that offers to go on.

    Running it again after another crash changes nothing more.
    """
    row = sessions.find_session(store, turn.session)
    if row is not None:
        try:
            _catch_up(store, await members.open_session(row), turn)
        except SessionError as error:
            failure("session_unreadable", error, turn=turn.id)
    return turns.mark_interrupted(store, turn.id)


def _catch_up(store: Store, session: Session, turn: TurnRow) -> None:
    """A text that was still growing is whole, and a message that was folded in waits no more."""
    known = {message.id: message for message in session.messages}
    with store.database.transaction():
        for row in messages.list_of_turn(store, turn.id):
            if row.kind == "assistant" and row.state == "streaming" and row.id in known:
                messages.update_message(store, row.id, text=known[row.id].text, state="done")
        waiting = queue.list_queued(store, turn.conversation)
        queue.send_queued(store, [row.id for row in waiting if row.id in known], turn=turn.id)


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
