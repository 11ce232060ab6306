"""After a crash: a turn that was live becomes ``interrupted``, and its member remembers what it had said."""

from __future__ import annotations

from app.engine.errors import SessionError
from app.engine.messages import Marker, Message, Text
from app.engine.session import Session
from app.group_chat.members import Members
from app.infra.logs import failure
from app.workspace import messages, sessions, turns
from app.workspace.rows import MessageRow, TurnRow
from app.workspace.store import Store


async def recover_turn(store: Store, members: Members, turn: TurnRow) -> None:
    """Close one turn. Chat and session are written by two hands, so either may be a step ahead of the other.

    Running it again after another crash changes nothing more.
    """
    row = sessions.find_session(store, turn.session)
    if row is not None:
        try:
            session = await members.open_session(row)
            await _remember(store, session, messages.list_of_turn(store, turn.id))
        except SessionError as error:
            failure("session_unreadable", error, turn=turn.id)
    turns.mark_interrupted(store, turn.id)


async def _remember(store: Store, session: Session, rows: list[MessageRow]) -> None:
    """A text that the page showed and the session never got is kept there too, with a marker behind it."""
    known = {message.id: message for message in session.messages}
    for row in rows:
        if row.kind != "assistant" or row.state != "streaming":
            continue
        if row.id in known:
            messages.update_message(store, row.id, text=known[row.id].text, state="done")
        elif row.text.strip():
            said = Message("assistant", (Text(row.text), Marker("interrupted")), row.id, store.now())
            await session.append(said)
