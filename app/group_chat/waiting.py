"""The messages that wait in a room, as the running turn sees them."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.steering import UserInput
from app.group_chat.board import Board
from app.group_chat.events import QueueChanged, RowAdded
from app.workspace import queue


class SteeredMessages:
    """Those that are folded into the running turn. A row becomes a message once the session has stored it."""

    def __init__(self, board: Board, turn: str) -> None:
        self._board = board
        self._turn = turn

    def waiting(self) -> Sequence[UserInput]:
        rows = queue.list_queued(self._board.store, self._board.conversation, "steer")
        return [UserInput(row.text, row.id) for row in rows]

    async def stored(self, inputs: Sequence[UserInput]) -> None:
        if not inputs:
            return
        for row in queue.send_queued(self._board.store, [said.id for said in inputs], turn=self._turn):
            self._board.announce(row, RowAdded())
        self._board.publish(QueueChanged(), member="user", turn=self._turn)
