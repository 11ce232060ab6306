"""The board of a worker without a name: what it says stays out of the chat, what needs the user does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.scripted import ScriptedModel
from app.group_chat.quiet_board import QuietBoard
from app.workspace import turns
from tests.group_chat.rooms import House, house

pytestmark = pytest.mark.anyio


def board_of(at: House) -> tuple[QuietBoard, str]:
    turn = turns.start_turn(at.store, at.room.id, member="worker", session="ses_1", trigger="task_1")
    return QuietBoard(at.store, at.room.id, at.room.feed), turn.id


async def test_what_it_says_and_does_is_nowhere_in_the_chat(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as at:
        board, turn = board_of(at)
        said = board.add("assistant", member="worker", turn=turn, state="streaming")
        board.save(said.id, text="half")
        board.change(said.id, text="all of it", state="done")
        assert at.rows() == []
        assert at.happened() == []


async def test_a_question_stands_in_the_chat_and_is_answered_there(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as at:
        board, turn = board_of(at)
        asked = board.add("approval", member="worker", turn=turn, state="streaming", data={"payload": "ls"})
        board.change(asked.id, state="done")
        (row,) = at.rows()
        assert (row.kind, row.member, row.state) == ("approval", "worker", "done")
