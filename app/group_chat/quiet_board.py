"""A board for a worker without a name: what it says and does has no place in the chat, only what needs the user."""

from __future__ import annotations

from typing import Unpack

from app.engine import events as engine
from app.group_chat.board import NewRow, Words
from app.group_chat.events import RoomChange, RoomEvent
from app.group_chat.keeping import KeepingBoard
from app.infra.feed import Feed
from app.workspace.rows import MessageKind, MessageRow
from app.workspace.store import Store

_NEEDS_THE_USER = frozenset[MessageKind]({"approval", "form"})


class QuietBoard(KeepingBoard):
    """Rows that nobody sees are held for as long as the turn lasts; its session has all of them."""

    def __init__(self, store: Store, conversation: str, feed: Feed[RoomEvent]) -> None:
        super().__init__(store, conversation, feed)
        self._unseen: dict[str, MessageRow] = {}

    def add(self, kind: MessageKind, *, member: str, turn: str | None, **row: Unpack[NewRow]) -> MessageRow:
        if kind in _NEEDS_THE_USER:
            return super().add(kind, member=member, turn=turn, **row)
        unseen = self._unstored(kind, member, turn, row)
        self._unseen[unseen.id] = unseen
        return unseen

    def change(self, row_id: str, **words: Unpack[Words]) -> MessageRow:
        return self._unseen.get(row_id) or super().change(row_id, **words)

    def save(self, row_id: str, **words: Unpack[Words]) -> MessageRow:
        return self._unseen.get(row_id) or super().save(row_id, **words)

    def publish(
        self,
        event: engine.Event | RoomChange,
        *,
        member: str,
        turn: str | None = None,
        message_id: str | None = None,
    ) -> None:
        seen = None if message_id in self._unseen else message_id
        super().publish(event, member=member, turn=turn, message_id=seen)
