"""Where the steps of a live turn are kept: rows of the store, and one notice in the chat where undo fails.

That is for the user, so it stands in the chat also where the turn itself is one that nobody sees.
"""

from __future__ import annotations

from app.group_chat.undoing import Undoing, keep_end
from app.hands.undo.tally import Tally
from app.hands.undo.values import Snapshot, Step
from app.infra.logs import failure
from app.models.errors import StorageError
from app.workspace import steps
from app.workspace.rows import StepRow, TurnRow


class StepLog:
    """See ``Steps``."""

    def __init__(self, turn: TurnRow, undoing: Undoing) -> None:
        self._board = undoing.board
        self._turn = turn
        self._undoing = undoing
        self._begun: dict[str, StepRow] = {}
        self._is_said = False

    async def begin(self, call_id: str, tool: str, before: Snapshot) -> str | None:
        try:
            # What a stopped turn left behind is told from what this one does.
            await self._undoing.settle()
            row = steps.begin_step(
                self._board.store,
                self._turn.conversation,
                turn=self._turn.id,
                call_id=call_id,
                tool=tool,
                before=before.id,
            )
        except StorageError as error:
            self.not_kept(str(error))
            return None
        self._begun[row.id] = row
        return row.id

    def end(self, id: str, step: Step, tally: Tally) -> None:
        try:
            keep_end(self._board, self._begun.pop(id), step, tally)
        except StorageError as error:
            self.not_kept(str(error))

    def not_kept(self, sentence: str) -> None:
        """Once a turn: what hinders one step hinders the next."""
        if self._is_said:
            return
        self._is_said = True
        try:
            self._board.add(
                "notice",
                member=self._turn.member,
                turn=self._turn.id,
                text=sentence,
                data={"notice": "not_undoable"},
            )
        except StorageError as error:
            failure("notice_not_kept", error, turn=self._turn.id)
