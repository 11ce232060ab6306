"""The messages of a conversation: what the page shows, in the order in which it was said.

Positions have no gaps, times only rise, and every change takes the next number of the conversation's revision
counter in its own transaction: whoever knows a revision can ask for all that came after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from peewee import Value, fn

from app.models.fields import clean, clean_text
from app.models.statements import HOLE
from app.models.tables import Conversation, Message, QueuedMessage
from app.workspace.attached import attachments_of
from app.workspace.conversations import load_conversation, raise_revision
from app.workspace.errors import NotFound
from app.workspace.rows import ConversationRow, MessageKind, MessageRow, MessageState
from app.workspace.store import Store
from app.workspace.titles import title_of

_BY_ID = Message.select().where(Message.id == HOLE)
_SENT = Message.select().where(Message.conversation == HOLE, Message.client_id == HOLE)
_CHANGED = (
    Message.select().where(Message.conversation == HOLE, Message.revision > HOLE).order_by(Message.position)
)
_OF_CONVERSATION = Message.select().where(Message.conversation == HOLE)
_LAST = _OF_CONVERSATION.order_by(Message.position.desc()).limit(HOLE)
_BEFORE = _OF_CONVERSATION.where(Message.position < HOLE).order_by(Message.position.desc()).limit(HOLE)
_OF_KIND = _OF_CONVERSATION.where(Message.kind == HOLE).order_by(Message.position)
_OF_TURN = Message.select().where(Message.turn == HOLE).order_by(Message.position)
_LAST_POSITION = Message.select(fn.MAX(Message.position)).where(Message.conversation == HOLE)
_WAITING = QueuedMessage.select(QueuedMessage.id).where(
    QueuedMessage.conversation == HOLE, QueuedMessage.client_id == HOLE
)


def add_message(
    store: Store,
    conversation_id: str,
    *,
    kind: MessageKind,
    member: str,
    text: str = "",
    state: MessageState = "done",
    data: Mapping[str, Any] | None = None,
    turn: str | None = None,
    client_id: str | None = None,
    id: str | None = None,
) -> MessageRow:
    """Add at the end. The same ``client_id`` again changes nothing and returns the first row.

    ``id`` is given where the same message has it elsewhere, in a session or in the queue. A message that waits
    in the queue under that ``client_id`` leaves it. Raises ``NotFound``.
    """
    with store.database.transaction():
        if client_id is not None:
            if first := find_sent(store, conversation_id, client_id):
                return first
            _leave_queue(store, conversation_id, client_id)
        conversation = load_conversation(store, conversation_id)
        row = MessageRow(
            id=id or store.new_id("msg"),
            conversation=conversation_id,
            position=_last_position(store, conversation_id) + 1,
            revision=conversation.revision + 1,
            turn=turn,
            member=clean_text(member),
            kind=kind,
            state=state,
            text=clean_text(text),
            data=clean(dict(data or {})),
            created=store.after(conversation.updated),
            client_id=client_id and clean_text(client_id),
        )
        store.database.insert(Message, row)
        _note_in_conversation(store, conversation, row)
    return row


def update_message(
    store: Store,
    message_id: str,
    *,
    text: str | None = None,
    state: MessageState | None = None,
    data: Mapping[str, Any] | None = None,
    turn: str | None = None,
) -> MessageRow:
    """Replace what is given and leave the rest; ``data`` is replaced as a whole. Raises ``NotFound``."""
    given = {
        "text": None if text is None else clean_text(text),
        "state": state,
        "data": None if data is None else clean(dict(data)),
        "turn": turn,
    }
    with store.database.transaction():
        row = load_message(store, message_id)
        changed: dict[str, Any] = {
            name: value for name, value in given.items() if value not in (None, getattr(row, name))
        }
        if not changed:
            return row
        changed["revision"] = raise_revision(store, row.conversation)
        store.database.update(Message, message_id, changed)
        return replace(row, **changed)


def find_message(store: Store, message_id: str) -> MessageRow | None:
    return store.database.find(MessageRow, _BY_ID, message_id)


def load_message(store: Store, message_id: str) -> MessageRow:
    """As ``find_message``. Raises ``NotFound``."""
    row = find_message(store, message_id)
    if row is None:
        raise NotFound(f'There is no message "{message_id}". Its conversation may have been deleted.')
    return row


def find_sent(store: Store, conversation_id: str, client_id: str) -> MessageRow | None:
    """The message that the page sent under this ``client_id``."""
    return store.database.find(MessageRow, _SENT, conversation_id, clean_text(client_id))


def list_messages(
    store: Store, conversation_id: str, *, before_position: int | None = None, limit: int = 100
) -> list[MessageRow]:
    """The last ``limit`` messages, or those just before a position, oldest first."""
    if before_position is None:
        return store.database.rows(MessageRow, _LAST, conversation_id, limit)[::-1]
    return store.database.rows(MessageRow, _BEFORE, conversation_id, before_position, limit)[::-1]


def list_said(store: Store, conversation_id: str, *, to: str) -> list[MessageRow]:
    """All in which somebody says something that ``to`` has not said itself, oldest first."""
    kinds = ("user", "assistant", "dispatch")
    said = (
        (Message.conversation == conversation_id)
        & Message.kind.in_(kinds)
        & (Message.member != clean_text(to))
    )
    return store.database.rows(MessageRow, Message.select().where(said).order_by(Message.position))


def list_of_kind(store: Store, conversation_id: str, kind: MessageKind) -> list[MessageRow]:
    """All of one kind, in order."""
    return store.database.rows(MessageRow, _OF_KIND, conversation_id, kind)


def list_with_files(store: Store, conversation_id: str, limit: int) -> list[MessageRow]:
    """The newest messages of the user that files were sent with, the newest first."""
    sent = (
        (Message.conversation == conversation_id)
        & (Message.kind == "user")
        & (fn.INSTR(Message.data, Value('"attachments":', converter=False)) > 0)
    )
    query = Message.select().where(sent).order_by(Message.position.desc()).limit(limit)
    return [row for row in store.database.rows(MessageRow, query) if attachments_of(row.data)]


def list_of_turn(store: Store, turn_id: str) -> list[MessageRow]:
    """All that belongs to a turn, in order."""
    return store.database.rows(MessageRow, _OF_TURN, turn_id)


def list_asked(store: Store, turn_id: str) -> list[MessageRow]:
    """What a turn asked the user, in order: approvals and forms."""
    asked = (Message.turn == turn_id) & Message.kind.in_(("approval", "form"))
    return store.database.rows(MessageRow, Message.select().where(asked).order_by(Message.position))


def list_call_times(store: Store, turn_id: str) -> list[str]:
    """When a turn called its tools, in order."""
    calls = (Message.turn == turn_id) & (Message.kind == "tool_call")
    query = Message.select(Message.created).where(calls).order_by(Message.position)
    return [created for (created,) in store.database.values(query)]


def changed_since(store: Store, conversation_id: str, revision: int) -> list[MessageRow]:
    """Every message that is new or different after ``revision``, in the order of the conversation."""
    return store.database.rows(MessageRow, _CHANGED, conversation_id, revision)


def _last_position(store: Store, conversation_id: str) -> int:
    return store.database.values(_LAST_POSITION, conversation_id)[0][0] or 0


def _leave_queue(store: Store, conversation_id: str, client_id: str) -> None:
    for (queued_id,) in store.database.values(_WAITING, conversation_id, clean_text(client_id)):
        store.database.run(QueuedMessage.delete().where(QueuedMessage.id == queued_id))


def _note_in_conversation(store: Store, conversation: ConversationRow, row: MessageRow) -> None:
    changed: dict[str, object] = {"revision": row.revision, "updated": row.created}
    if row.kind == "user" and conversation.title_source == "auto" and not conversation.title:
        changed["title"] = title_of("\n".join((row.text, *(file.name for file in attachments_of(row.data)))))
    store.database.update(Conversation, row.conversation, changed)
