"""The messages that wait in a room, as the running turn sees them."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from app.engine.steering import Hear, UserInput
from app.group_chat.board import Board
from app.group_chat.events import QueueChanged, RowAdded
from app.workspace import queue


class SteeredMessages:
    """Those that are folded into the running turn. A row becomes a message once the session has stored it."""

    def __init__(self, board: Board, turn: str, lock: anyio.Lock) -> None:
        """``lock`` is the room's: while a message is being heard nobody edits it or takes it back."""
        self._board = board
        self._turn = turn
        self._lock = lock

    async def fold_in(self, hear: Hear) -> Sequence[UserInput]:
        async with self._lock:
            rows = queue.list_queued(self._board.store, self._board.conversation, "steer")
            inputs = [UserInput(row.text, row.id) for row in rows]
            if inputs:
                with anyio.CancelScope(shield=True):
                    await hear(inputs)
                    self._send(inputs)
        return inputs

    def _send(self, heard: Sequence[UserInput]) -> None:
        with self._board.together():
            for row in queue.send_queued(self._board.store, [said.id for said in heard], turn=self._turn):
                self._board.announce(row, RowAdded())
            self._board.publish(QueueChanged(), member="user", turn=self._turn)
