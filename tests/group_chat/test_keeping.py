"""The board of a turn takes everything; what the store refuses is told at once and stored later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine.events import Usage
from app.group_chat.events import RoomEvent, RowAdded, RowChanged
from app.group_chat.keeping import KeepingBoard
from app.infra.feed import Feed
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.models.errors import StorageReadOnly
from app.workspace import conversations, messages, usage
from app.workspace.rows import MessageRow
from app.workspace.store import Store
from tests.fakes.clock import FakeClock


@pytest.fixture
def board(tmp_path: Path) -> Iterator[KeepingBoard]:
    clock = FakeClock()
    database = open_database(DataFolder(tmp_path).create(), clock)
    store = Store(database, clock, new_id)
    conversation = conversations.create_conversation(store, workspace="").id
    yield KeepingBoard(store, conversation, Feed[RoomEvent]("room", 64))
    database.close()


def freeze(board: KeepingBoard, frozen: bool = True) -> None:
    board.store.database._sqlite.sql(f"PRAGMA query_only = {int(frozen)}")


def stored(board: KeepingBoard) -> list[MessageRow]:
    return messages.list_messages(board.store, board.conversation)


def told(board: KeepingBoard) -> list[type]:
    return [type(place.event) for _, place in board.feed.since(0) or []]


def say(board: KeepingBoard, text: str) -> MessageRow:
    return board.add("assistant", member="commander", turn="turn_1", text=text, state="streaming")


def test_as_long_as_the_store_takes_what_it_is_given_nothing_is_kept(board: KeepingBoard) -> None:
    row = say(board, "one")
    board.change(row.id, text="two")
    assert board.trouble is None
    assert board.find_kept(row.id) is None
    assert [row.text for row in stored(board)] == ["two"]


def test_what_is_refused_is_told_kept_and_stored_later_as_it_was_told(board: KeepingBoard) -> None:
    first = say(board, "one")
    freeze(board)
    board.save(first.id, text="one and")
    board.change(first.id, text="one and a half", state="interrupted")
    second = board.add("error", member="commander", turn="turn_1", text="why", state="failed", data={"a": 1})
    board.change(second.id, data={"a": 2})
    assert isinstance(board.trouble, StorageReadOnly)
    assert told(board) == [RowAdded, RowChanged, RowAdded, RowChanged]
    assert [row.text for row in stored(board)] == ["one"]
    shown = board.over(stored(board), at_end=True)
    freeze(board, False)
    assert board.store_kept() == stored(board)
    assert [(row.id, row.text, row.state, row.data) for row in stored(board)] == [
        (row.id, row.text, row.state, row.data) for row in shown
    ]
    assert [row.position for row in stored(board)] == [1, 2]


def test_once_something_is_kept_all_that_follows_is_so_that_the_order_stays(board: KeepingBoard) -> None:
    freeze(board)
    say(board, "one")
    freeze(board, False)
    say(board, "two")
    assert stored(board) == []
    board.store_kept()
    assert [row.text for row in stored(board)] == ["one", "two"]


def test_new_rows_stand_at_the_end_and_not_on_every_page_before_it(board: KeepingBoard) -> None:
    first = say(board, "one")
    freeze(board)
    board.save(first.id, text="two")
    new = say(board, "three")
    assert [row.text for row in board.over(stored(board), at_end=True)] == ["two", "three"]
    assert [row.text for row in board.over(stored(board), at_end=False)] == ["two"]
    assert board.find_kept(new.id) == new
    freeze(board, False)


def test_storing_that_is_refused_again_loses_nothing_and_doubles_nothing(board: KeepingBoard) -> None:
    freeze(board)
    say(board, "one")
    with pytest.raises(StorageReadOnly):
        board.store_kept()
    freeze(board, False)
    board.store_kept()
    board.store_kept()
    assert [row.text for row in stored(board)] == ["one"]


def test_a_call_that_could_not_be_counted_is_counted_later(board: KeepingBoard) -> None:
    freeze(board)
    board.count(Usage("p", "m", 1, 2, 0, 0, None, False, 1, 1, "ok"), member="commander", turn="turn_1")
    assert isinstance(board.trouble, StorageReadOnly)
    freeze(board, False)
    board.store_kept()
    assert usage.total(board.store).calls == 1
