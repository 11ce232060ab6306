"""Sessions by name: which file holds a member's history in a conversation, and how big it has grown."""

from __future__ import annotations

from app.models.statements import HOLE, ONE
from app.models.tables import Session
from app.workspace.conversations import load_conversation
from app.workspace.errors import NotFound
from app.workspace.rows import SessionRow
from app.workspace.store import Store

_BY_ID = Session.select().where(Session.id == HOLE)
_NEWEST = (
    Session.select()
    .where(Session.conversation == HOLE, Session.member == HOLE)
    .order_by(Session.id.desc())
    .limit(ONE)
)


def session_of(store: Store, conversation_id: str, member: str, *, model: str | None = None) -> SessionRow:
    """The member's newest session, made where there is none. Raises ``NotFound``."""
    with store.database.transaction():
        load_conversation(store, conversation_id)
        newest = store.database.find(SessionRow, _NEWEST, conversation_id, member)
        return newest or _new_session(store, conversation_id, member, model)


def new_session(store: Store, conversation_id: str, member: str) -> SessionRow:
    """One with nothing in it, whatever others the member has. Raises ``NotFound``."""
    with store.database.transaction():
        load_conversation(store, conversation_id)
        return _new_session(store, conversation_id, member, None)


def load_session(store: Store, session_id: str) -> SessionRow:
    """Raises ``NotFound``."""
    row = find_session(store, session_id)
    if row is None:
        raise NotFound(f'There is no session "{session_id}". Its conversation may have been deleted.')
    return row


def find_session(store: Store, session_id: str) -> SessionRow | None:
    return store.database.find(SessionRow, _BY_ID, session_id)


def list_sessions(store: Store, conversation_id: str) -> list[SessionRow]:
    query = Session.select().where(Session.conversation == conversation_id)
    return store.database.rows(SessionRow, query.order_by(Session.id))


def note_session(
    store: Store,
    session_id: str,
    *,
    size: int,
    input_tokens: int,
    output_tokens: int,
    model: str | None = None,
) -> None:
    """What a turn left behind: the file's size in bytes and the tokens the turn adds to the session's totals."""
    grown = {
        "size": size,
        "input_tokens": Session.input_tokens + input_tokens,
        "output_tokens": Session.output_tokens + output_tokens,
    }
    if model is not None:
        grown["model"] = model
    if not store.database.run(Session.update(grown).where(Session.id == session_id)):
        raise NotFound(f'There is no session "{session_id}". Its conversation may have been deleted.')


def _new_session(store: Store, conversation_id: str, member: str, model: str | None) -> SessionRow:
    session_id = store.new_id("ses")
    row = SessionRow(session_id, conversation_id, member, model, f"sessions/{session_id}.jsonl", 0, 0, 0)
    store.database.insert(Session, row)
    return row
