"""The messages that wait in a room: the user's list of them, and how the running turn hears those that steer it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from app.engine.steering import Hear, UserInput
from app.group_chat.attaching import with_files
from app.group_chat.board import Board
from app.group_chat.errors import EmptyMessage
from app.group_chat.events import QueueChanged, RowAdded
from app.workspace import queue, turns
from app.workspace.attached import Attachment, attachments_of, with_attachments
from app.workspace.rows import MessageRow, QueuedRow, QueueKind


class WaitingList:
    """What the user does with the list, under the room's lock: a message is changed or sent, never both."""

    def __init__(self, board: Board, lock: anyio.Lock) -> None:
        self._board = board
        self._store = board.store
        self._conversation = board.conversation
        self._lock = lock

    async def edit(self, queued_id: str, text: str) -> None:
        """Raises ``EmptyMessage``, ``NotFound`` where it has been sent meanwhile."""
        async with self._lock:
            row = self.load(queued_id)
            if not text.strip() and not attachments_of(row.data):
                raise EmptyMessage("A waiting message needs a text. Delete it instead.")
            queue.edit_queued(self._store, queued_id, text=text)
            self._tell()

    async def delete(self, queued_id: str) -> QueuedRow:
        """Raises ``NotFound``."""
        async with self._lock:
            self.load(queued_id)
            row = queue.delete_queued(self._store, queued_id)
            self._tell()
            return row

    async def move(self, queued_id: str, steps: int) -> None:
        """Down by so many places, or up where ``steps`` is negative. Raises ``NotFound``."""
        async with self._lock:
            self.load(queued_id)
            order = [row.id for row in queue.list_queued(self._store, self._conversation)]
            queue.move_queued(self._store, queued_id, order.index(queued_id) + steps)
            self._tell()

    # All that follows is called under the lock.

    def add(self, text: str, client_id: str, kind: QueueKind, attachments: Sequence[Attachment] = ()) -> None:
        data = with_attachments({}, attachments)
        queue.enqueue(self._store, self._conversation, text=text, client_id=client_id, kind=kind, data=data)
        self._tell()

    def load(self, queued_id: str) -> QueuedRow:
        return queue.load_queued(self._store, self._conversation, queued_id)

    def has(self, client_id: str) -> bool:
        return queue.find_queued(self._store, self._conversation, client_id) is not None

    def due(self) -> list[str]:
        """Those that are sent when a turn ends well; what is held waits for the user."""
        rows = queue.list_queued(self._store, self._conversation)
        return [row.id for row in rows if row.kind != "held"]

    def steer(self, queued_id: str) -> None:
        queue.edit_queued(self._store, queued_id, kind="steer")
        self._tell()

    def hold(self) -> None:
        queue.hold_all(self._store, self._conversation)
        self._tell()

    def send(self, queued_ids: Sequence[str]) -> Sequence[MessageRow]:
        """They become messages, all together."""
        rows = queue.send_queued(self._store, queued_ids)
        for row in rows:
            self._board.announce(row, RowAdded())
        self._tell()
        return rows

    def _tell(self) -> None:
        self._board.publish(QueueChanged(), member="user")


class SteeredMessages:
    """Those that are folded into the running turn. A row becomes a message once the session has stored it."""

    def __init__(
        self,
        board: Board,
        turn: str,
        lock: anyio.Lock,
        root: Path,
        is_for: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """``lock`` is the room's: while a message is being heard nobody edits it or takes it back.

        ``root`` is the data folder, ``is_for`` says of a text whether this turn is to hear it.
        """
        self._root = root
        self._is_for = is_for
        self._board = board
        self._turn = turn
        self._lock = lock

    async def fold_in(self, hear: Hear) -> Sequence[UserInput]:
        async with self._lock:
            rows = queue.list_queued(self._board.store, self._board.conversation, "steer")
            inputs = [self._told(row) for row in rows if self._is_for(row.text)]
            if inputs:
                with anyio.CancelScope(shield=True):
                    await hear(inputs)
                    self._send(inputs)
        return inputs

    def _told(self, row: QueuedRow) -> UserInput:
        return with_files(UserInput(row.text, row.id), attachments_of(row.data), self._root)

    def _send(self, heard: Sequence[UserInput]) -> None:
        store, ids = self._board.store, [said.id for said in heard]
        with self._board.together():
            member = turns.load_turn(store, self._turn).member
            for row in queue.send_queued(store, ids, turn=self._turn, to=member):
                self._board.announce(row, RowAdded())
            self._board.publish(QueueChanged(), member="user", turn=self._turn)
