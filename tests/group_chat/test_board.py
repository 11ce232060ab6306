"""The chat as something to write on: what is told has been stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.group_chat.board import Board
from app.group_chat.events import QueueChanged, RoomEvent, RowAdded, RowChanged
from app.infra.feed import Feed
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.models.errors import StorageReadOnly
from app.workspace import conversations, messages
from app.workspace.store import Store
from tests.fakes.clock import FakeClock


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    clock = FakeClock()
    database = open_database(DataFolder(tmp_path).create(), clock)
    store = Store(database, clock, new_id)
    conversation = conversations.create_conversation(store, workspace="").id
    yield Board(store, conversation, Feed[RoomEvent]("room", 64))
    database.close()


def told(board: Board) -> list[type]:
    return [type(place.event) for _, place in board.feed.since(0) or []]


def texts(board: Board) -> list[str]:
    return [row.text for row in messages.list_messages(board.store, board.conversation)]


def say(board: Board, text: str) -> str:
    return board.add("assistant", member="commander", turn="turn_1", text=text).id


def test_a_row_is_announced_when_it_is_stored(board: Board) -> None:
    board.feed.watch(lambda: stored_then.append(texts(board)))
    stored_then: list[list[str]] = []
    row = say(board, "one")
    board.change(row, text="two")
    assert told(board) == [RowAdded, RowChanged]
    assert stored_then == [["one"], ["two"]]


def test_a_text_that_is_saved_without_a_word_is_not_announced(board: Board) -> None:
    row = say(board, "one")
    board.save(row, text="two")
    assert texts(board) == ["two"]
    assert told(board) == [RowAdded]


def test_what_belongs_together_is_told_once_all_of_it_is_stored(board: Board) -> None:
    with board.together():
        say(board, "one")
        say(board, "two")
        board.publish(QueueChanged(), member="user")
        assert told(board) == []
    assert told(board) == [RowAdded, RowAdded, QueueChanged]


def test_what_belongs_together_and_fails_is_neither_stored_nor_told(board: Board) -> None:
    def half() -> None:
        with board.together():
            say(board, "one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert (texts(board), told(board)) == ([], [])
    say(board, "after")
    assert told(board) == [RowAdded]


def test_where_nothing_can_be_stored_nothing_is_told(board: Board) -> None:
    board.store.database._sqlite.sql("PRAGMA query_only = 1")
    with pytest.raises(StorageReadOnly):
        say(board, "one")
    with pytest.raises(StorageReadOnly), board.together():
        raise AssertionError("the block is not begun")
    assert told(board) == []


def test_a_block_in_a_block_is_told_of_in_its_place_once_the_outer_one_is_stored(board: Board) -> None:
    with board.together():
        say(board, "one")
        with board.together():
            board.change(say(board, "two"), text="three")
        assert told(board) == []
        board.publish(QueueChanged(), member="user")
    assert told(board) == [RowAdded, RowAdded, RowChanged, QueueChanged]


def test_a_block_in_a_block_that_fails_is_not_told_of(board: Board) -> None:
    def fail() -> None:
        with board.together():
            say(board, "two")
            raise LookupError

    with board.together():
        say(board, "one")
        with pytest.raises(LookupError):
            fail()
    assert texts(board) == ["one"]
    assert told(board) == [RowAdded]
