"""The chat of one conversation as something to write on: every row is stored first and announced after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypedDict, Unpack

from app.engine import events as engine
from app.group_chat.events import FilesChanged, RoomChange, RoomEvent, RowAdded, RowChanged
from app.infra.feed import Feed
from app.workspace import messages, usage
from app.workspace.attached import attachments_of
from app.workspace.rows import MessageKind, MessageRow, MessageState
from app.workspace.store import Store


class Words(TypedDict, total=False):
    """What an article says."""

    text: str
    state: MessageState
    data: Mapping[str, Any]


class NewRow(Words, total=False):
    """What a new article may have beside its kind, its member and its turn."""

    id: str


class Board:
    """Writes rows of one conversation and publishes what changed on its feed."""

    def __init__(self, store: Store, conversation: str, feed: Feed[RoomEvent]) -> None:
        self.store = store
        self.conversation = conversation
        self.feed = feed
        self._kept_back: list[RoomEvent] | None = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that is stored in the block is stored, and then announced, or nothing is. No ``await`` inside.

        A block in another one is told of when the outer one is stored.
        """
        outer, events = self._kept_back, list[RoomEvent]()
        self._kept_back = events
        try:
            with self.store.database.transaction():
                yield
        finally:
            self._kept_back = outer
        for event in events:
            self._tell(event)

    def monotonic(self) -> float:
        return self.store.clock.monotonic()

    def add(self, kind: MessageKind, *, member: str, turn: str | None, **row: Unpack[NewRow]) -> MessageRow:
        new = messages.add_message(self.store, self.conversation, kind=kind, member=member, turn=turn, **row)
        self.announce(new, RowAdded())
        return new

    def change(self, row_id: str, **words: Unpack[Words]) -> MessageRow:
        """Replace what is given; ``data`` as a whole."""
        row = self.save(row_id, **words)
        self.announce(row, RowChanged())
        return row

    def save(self, row_id: str, **words: Unpack[Words]) -> MessageRow:
        """``change`` without a word: for a text that is still growing, which its readers follow by its deltas."""
        return messages.update_message(self.store, row_id, **words)

    def announce(self, row: MessageRow, change: RoomChange) -> None:
        self.publish(change, member=row.member, turn=row.turn, message_id=row.id)
        if isinstance(change, RowAdded) and attachments_of(row.data):
            self.publish(FilesChanged(), member=row.member, turn=row.turn)

    def publish(
        self,
        event: engine.Event | RoomChange,
        *,
        member: str,
        turn: str | None = None,
        message_id: str | None = None,
    ) -> None:
        self._tell(RoomEvent(self.conversation, member, turn, self.store.now(), event, message_id))

    def _tell(self, happened: RoomEvent) -> None:
        if self._kept_back is None:
            self.feed.publish(happened)
        else:
            self._kept_back.append(happened)

    def count(self, call: engine.Usage, *, member: str, turn: str) -> None:
        """One line in the ledger for one model call."""
        usage.record(self.store, call, conversation=self.conversation, member=member, turn=turn)
