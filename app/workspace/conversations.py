"""Conversations: made, found, renamed, deleted with a way back, and in the end purged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from app.hands.permissions.access import AccessMode
from app.infra.clock import iso
from app.models.fields import clean, clean_text
from app.models.statements import HOLE
from app.models.tables import Conversation, Message, Session, Turn
from app.workspace.errors import NotFound
from app.workspace.rows import ConversationRow, TurnRow
from app.workspace.settings import chosen_access
from app.workspace.store import Store
from app.workspace.titles import shorten, title_of

_BY_ID = Conversation.select().where(Conversation.id == HOLE)


@dataclass(frozen=True, slots=True)
class Expired:
    """A conversation that nobody wants back, and the session files that belong to it (relative to the data folder)."""

    conversation: str
    session_paths: tuple[str, ...]


def create_conversation(
    store: Store, *, workspace: str, model: str | None = None, access: AccessMode | None = None
) -> ConversationRow:
    """``access`` is that of the settings where none is given."""
    now = store.now()
    row = ConversationRow(
        id=store.new_id("conv"),
        title="",
        title_source="auto",
        workspace=clean_text(workspace),
        model=model,
        pinned=False,
        archived=False,
        deleted_at=None,
        created=now,
        updated=now,
        revision=0,
        access=access or chosen_access(store),
    )
    store.database.insert(Conversation, row)
    return row


def find_conversation(store: Store, conversation_id: str) -> ConversationRow | None:
    """A deleted one too, while it can come back: its ``deleted_at`` is set."""
    return store.database.find(ConversationRow, _BY_ID, conversation_id)


def load_conversation(store: Store, conversation_id: str) -> ConversationRow:
    """As ``find_conversation``. Raises ``NotFound``."""
    row = find_conversation(store, conversation_id)
    if row is None:
        raise NotFound(f'There is no conversation "{conversation_id}". It may have been deleted.')
    return row


def list_recent(store: Store, *, archived: bool = False, limit: int = 200) -> list[ConversationRow]:
    """Those that are not deleted: pinned first, then by their newest message."""
    query = (
        Conversation.select()
        .where(Conversation.deleted_at.is_null(), Conversation.archived == archived)
        .order_by(Conversation.pinned.desc(), Conversation.updated.desc(), Conversation.id.desc())
    )
    return store.database.rows(ConversationRow, query.limit(limit))


def rename(store: Store, conversation_id: str, title: str) -> ConversationRow:
    """The user's title stays, whatever is said later; an empty one gives the name back to the first message."""
    wanted = shorten(" ".join(clean_text(title).split()), longest=200)
    with store.database.transaction():
        if wanted:
            return _change(store, conversation_id, title=wanted, title_source="user")
        first = title_of(_first_text(store, conversation_id))
        return _change(store, conversation_id, title=first, title_source="auto")


def choose_model(store: Store, conversation_id: str, model: str | None) -> ConversationRow:
    """``provider/model`` for the turns to come; None follows the default."""
    return _change(store, conversation_id, model=model)


def choose_access(store: Store, conversation_id: str, access: AccessMode) -> ConversationRow:
    """How much its members do without asking, from their next turn on."""
    return _change(store, conversation_id, access=access)


def pass_floor(store: Store, conversation_id: str, member: str) -> ConversationRow:
    """From now on this member answers a message that names nobody."""
    return _change(store, conversation_id, floor=member)


def choose_workspace(store: Store, conversation_id: str, workspace: str) -> ConversationRow:
    return _change(store, conversation_id, workspace=workspace)


def pin(store: Store, conversation_id: str, pinned: bool) -> ConversationRow:
    return _change(store, conversation_id, pinned=pinned)


def archive(store: Store, conversation_id: str, archived: bool) -> ConversationRow:
    return _change(store, conversation_id, archived=archived)


def delete(store: Store, conversation_id: str) -> tuple[TurnRow, ...]:
    """Out of sight, with a way back. Returns the turns that are live in it: stopping them is the caller's part."""
    with store.database.transaction():
        _change(store, conversation_id, deleted_at=store.now())
        live = Turn.select().where(Turn.conversation == conversation_id, Turn.state == "running")
        return tuple(store.database.rows(TurnRow, live))


def undelete(store: Store, conversation_id: str) -> ConversationRow:
    """Back as it was. Raises ``NotFound`` after the purge."""
    return _change(store, conversation_id, deleted_at=None)


def list_expired(store: Store, older_than: timedelta) -> tuple[Expired, ...]:
    """What was deleted longer ago than that. A conversation with a live turn waits."""
    limit = iso(store.clock.now() - older_than)
    busy = Turn.select(Turn.conversation).where(Turn.state == "running")
    gone = Conversation.select(Conversation.id).where(
        Conversation.deleted_at <= limit, Conversation.id.not_in(busy)
    )
    return tuple(Expired(id, _session_paths(store, id)) for (id,) in store.database.values(gone))


def purge(store: Store, conversations: Collection[str]) -> None:
    """Remove for good, from the file of the database too; usage rows stay for the sums."""
    with store.database.transaction():
        for id in conversations:
            store.database.run(Conversation.delete().where(Conversation.id == id))
    store.database.shrink_log()


def raise_revision(store: Store, conversation_id: str) -> int:
    """The next number of the conversation's counter, for what changes in the same transaction. Raises ``NotFound``."""
    return _change(store, conversation_id).revision


def _change(store: Store, conversation_id: str, **values: Any) -> ConversationRow:
    with store.database.transaction():
        row = load_conversation(store, conversation_id)
        values = {"revision": row.revision + 1, **clean(values)}
        store.database.update(Conversation, conversation_id, values)
        return replace(row, **values)


def _first_text(store: Store, conversation_id: str) -> str:
    asked = Message.select(Message.text).where(
        Message.conversation == conversation_id, Message.kind == "user"
    )
    texts = store.database.values(asked.order_by(Message.position).limit(1))
    return str(texts[0][0]) if texts else ""


def _session_paths(store: Store, conversation_id: str) -> tuple[str, ...]:
    paths = store.database.values(Session.select(Session.path).where(Session.conversation == conversation_id))
    return tuple(path for (path,) in paths)
