"""Messages that wait: for the end of a turn (``queue``), for its next boundary (``steer``) or for the user (``held``).

A row leaves the queue only in the transaction that makes it a message, or because the user removed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.models.fields import clean, clean_text
from app.models.statements import HOLE
from app.models.tables import QueuedMessage
from app.workspace.conversations import raise_revision
from app.workspace.errors import NotFound
from app.workspace.messages import add_message, find_sent
from app.workspace.rows import MessageRow, QueuedRow, QueueKind
from app.workspace.store import Store

_WAITING = QueuedMessage.select().where(QueuedMessage.conversation == HOLE).order_by(QueuedMessage.position)
_SENT = QueuedMessage.select().where(QueuedMessage.conversation == HOLE, QueuedMessage.client_id == HOLE)


def enqueue(
    store: Store,
    conversation_id: str,
    *,
    text: str,
    client_id: str,
    kind: QueueKind = "queue",
    data: Mapping[str, Any] | None = None,
) -> QueuedRow | MessageRow:
    """Add at the end. The same ``client_id`` again returns the first row, a message if it was sent already.

    ``data`` is what its message will have beside the text. Raises ``NotFound``.
    """
    with store.database.transaction():
        known = find_queued(store, conversation_id, client_id) or find_sent(store, conversation_id, client_id)
        if known:
            return known
        raise_revision(store, conversation_id)
        waiting = list_queued(store, conversation_id)
        row = QueuedRow(
            id=store.new_id("msg"),
            conversation=conversation_id,
            client_id=clean_text(client_id),
            text=clean_text(text),
            kind=kind,
            position=waiting[-1].position + 1 if waiting else 1,
            created=store.after(waiting[-1].created) if waiting else store.now(),
            data=clean(dict(data or {})),
        )
        store.database.insert(QueuedMessage, row)
    return row


def list_queued(store: Store, conversation_id: str, kind: QueueKind | None = None) -> list[QueuedRow]:
    """What waits, first in first; of one kind or of all."""
    waiting = store.database.rows(QueuedRow, _WAITING, conversation_id)
    return waiting if kind is None else [row for row in waiting if row.kind == kind]


def find_queued(store: Store, conversation_id: str, client_id: str) -> QueuedRow | None:
    return store.database.find(QueuedRow, _SENT, conversation_id, clean_text(client_id))


def load_queued(store: Store, conversation_id: str, queued_id: str) -> QueuedRow:
    """One that waits in this conversation. Raises ``NotFound``."""
    row = _load(store, queued_id)
    if row.conversation != conversation_id:
        raise NotFound("That message does not wait in this conversation.")
    return row


def send_queued(
    store: Store, queued_ids: Sequence[str], *, turn: str | None = None, to: str | None = None
) -> tuple[MessageRow, ...]:
    """Make messages of the user out of these, in the order of the queue and all together.

    ``turn`` and ``to``: the turn that has heard them, and its member.
    A message keeps the id and the ``client_id`` under which it waited. What has left the queue is passed over.
    """
    with store.database.transaction():
        wanted = QueuedMessage.select().where(QueuedMessage.id.in_(list(queued_ids)))
        waiting = store.database.rows(QueuedRow, wanted.order_by(QueuedMessage.position))
        return tuple(_send(store, row, turn, to) for row in waiting)


def hold_all(store: Store, conversation_id: str) -> None:
    """Nothing of what waits is sent by itself any more; every word stays."""
    with store.database.transaction():
        waiting = QueuedMessage.conversation == conversation_id
        if store.database.run(QueuedMessage.update(kind="held").where(waiting)):
            raise_revision(store, conversation_id)


def edit_queued(
    store: Store, queued_id: str, *, text: str | None = None, kind: QueueKind | None = None
) -> QueuedRow:
    """Change the text, or when it is sent. Raises ``NotFound`` when it has left the queue."""
    with store.database.transaction():
        row = _load(store, queued_id)
        raise_revision(store, row.conversation)
        changed = replace(row, text=row.text if text is None else clean_text(text), kind=kind or row.kind)
        store.database.update(QueuedMessage, queued_id, {"text": changed.text, "kind": changed.kind})
        return changed


def delete_queued(store: Store, queued_id: str) -> QueuedRow:
    """Take it out; returns what it was. Raises ``NotFound`` when it has left the queue."""
    with store.database.transaction():
        row = _load(store, queued_id)
        _remove(store, row)
    return row


def move_queued(store: Store, queued_id: str, place: int) -> list[QueuedRow]:
    """Put it at ``place`` (0 = first; beyond the end = last) and return the new order. Raises ``NotFound``."""
    with store.database.transaction():
        row = _load(store, queued_id)
        raise_revision(store, row.conversation)
        order = [other.id for other in list_queued(store, row.conversation) if other.id != queued_id]
        order.insert(max(place, 0), queued_id)
        for position, each in enumerate(order, start=1):
            store.database.update(QueuedMessage, each, {"position": position})
        return list_queued(store, row.conversation)


def _send(store: Store, row: QueuedRow, turn: str | None, to: str | None) -> MessageRow:
    """Adding a message under its ``client_id`` takes it out of the queue."""
    steers = {"sent": "steer"} if row.kind == "steer" else {}
    return add_message(
        store,
        row.conversation,
        kind="user",
        member="user",
        text=row.text,
        data={**row.data, **steers, **({"to": [to]} if to else {})},
        turn=turn,
        client_id=row.client_id,
        id=row.id,
    )


def _load(store: Store, queued_id: str) -> QueuedRow:
    row = store.database.find(QueuedRow, QueuedMessage.select().where(QueuedMessage.id == queued_id))
    if row is None:
        raise NotFound("That message does not wait any more: it was sent or removed.")
    return row


def _remove(store: Store, row: QueuedRow) -> None:
    raise_revision(store, row.conversation)
    store.database.run(QueuedMessage.delete().where(QueuedMessage.id == row.id))
