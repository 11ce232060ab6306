"""A board that a running turn can always write on: what the store does not take is kept until it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from app.engine import events as engine
from app.group_chat.board import Board, NewRow, Words
from app.group_chat.events import RoomEvent, RowAdded
from app.infra.feed import Feed
from app.models.errors import StorageError
from app.workspace import messages
from app.workspace.rows import MessageKind, MessageRow
from app.workspace.store import Store

_NOWHERE = 0
"""Position of a row that is not stored yet; the store counts from 1."""


class KeepingBoard(Board):
    """From the first refusal on, rows are kept in memory, announced as ever, and stored by ``store_kept``.

    Raises ``StorageError`` only where a row cannot even be read.
    """

    def __init__(self, store: Store, conversation: str, feed: Feed[RoomEvent]) -> None:
        super().__init__(store, conversation, feed)
        self.trouble: StorageError | None = None
        """Why the store takes nothing."""
        self._rows: dict[str, MessageRow] = {}
        self._calls: list[tuple[engine.Usage, str, str]] = []

    def add(self, kind: MessageKind, *, member: str, turn: str | None, **row: Unpack[NewRow]) -> MessageRow:
        if self.trouble is None:
            try:
                return super().add(kind, member=member, turn=turn, **row)
            except StorageError as error:
                self.trouble = error
        kept = self._unstored(kind, member, turn, row)
        self._rows[kept.id] = kept
        self.announce(kept, RowAdded())
        return kept

    def _unstored(self, kind: MessageKind, member: str, turn: str | None, row: NewRow) -> MessageRow:
        """A row that stands nowhere in the store."""
        return MessageRow(
            id=row.get("id") or self.store.new_id("msg"),
            conversation=self.conversation,
            position=_NOWHERE,
            revision=0,
            turn=turn,
            member=member,
            kind=kind,
            state=row.get("state", "done"),
            text=row.get("text", ""),
            data=dict(row.get("data", {})),
            created=self.store.now(),
            client_id=None,
        )

    def save(self, row_id: str, **words: Unpack[Words]) -> MessageRow:
        if self.trouble is None:
            try:
                return super().save(row_id, **words)
            except StorageError as error:
                self.trouble = error
        before = self._rows.get(row_id) or messages.load_message(self.store, row_id)
        row = self._rows[row_id] = replace(
            before,
            text=words.get("text", before.text),
            state=words.get("state", before.state),
            data=dict(words.get("data", before.data)),
        )
        return row

    def count(self, call: engine.Usage, *, member: str, turn: str) -> None:
        try:
            super().count(call, member=member, turn=turn)
        except StorageError as error:
            self.trouble = self.trouble or error
            self._calls.append((call, member, turn))

    @property
    def has_unstored(self) -> bool:
        """Whether articles of it stand nowhere in the store: a page that is loaded shows them last."""
        return any(row.position == _NOWHERE for row in self._rows.values())

    def find_kept(self, message_id: str) -> MessageRow | None:
        return self._rows.get(message_id)

    def over(self, rows: Sequence[MessageRow], *, at_end: bool) -> list[MessageRow]:
        """Stored rows as they stand now; where they are the last ones, those that are not stored yet follow."""
        new = [row for row in self._rows.values() if row.position == _NOWHERE] if at_end else []
        return [self._rows.get(row.id, row) for row in rows] + new

    def store_kept(self) -> list[MessageRow]:
        """Store what was kept; the rows as they are now. Belongs into one transaction with the end of the turn.

        Raises ``StorageError``; then everything is kept as before.
        """
        for call, member, turn in self._calls:
            super().count(call, member=member, turn=turn)
        return [self._stored(row) for row in self._rows.values()]

    def _stored(self, row: MessageRow) -> MessageRow:
        if messages.find_message(self.store, row.id) is not None:
            return messages.update_message(self.store, row.id, text=row.text, state=row.state, data=row.data)
        return messages.add_message(
            self.store,
            self.conversation,
            kind=row.kind,
            member=row.member,
            text=row.text,
            state=row.state,
            data=row.data,
            turn=row.turn,
            id=row.id,
        )
