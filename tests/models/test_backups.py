"""Daily copies: when one is due, what it holds, which ones stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.models.backups import DAILY_KEPT, back_up_daily, newest_backup
from app.models.connection import Sqlite
from app.models.database import Database, open_database
from app.workspace.conversations import create_conversation
from app.workspace.store import Store
from tests.models.stands import HandClock, fresh_folder


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def folder(tmp_path: Path, clock: HandClock) -> DataFolder:
    return fresh_folder(tmp_path)


def begin(database: Database, clock: HandClock) -> None:
    create_conversation(Store(database, clock, new_id), workspace="/")


def conversations(copy: Path) -> int:
    database = Sqlite(copy)
    try:
        return int(database.sql("SELECT COUNT(*) FROM conversations")[0][0])
    finally:
        database.close()


def daily(folder: DataFolder, clock: HandClock) -> Path | None:
    return back_up_daily(folder.database, folder.backups, clock.now())


def test_a_copy_is_made_once_a_day_beside_an_open_database(folder: DataFolder, clock: HandClock) -> None:
    database = open_database(folder, clock)
    begin(database, clock)
    first = daily(folder, clock)
    assert first is not None
    assert conversations(first) == 1, "It holds what is still in the log."
    begin(database, clock)
    clock.move(minutes=24 * 60 - 1)
    assert daily(folder, clock) is None
    clock.move(minutes=2)
    second = daily(folder, clock)
    assert second is not None
    assert [conversations(copy) for copy in (first, second)] == [1, 2]
    assert newest_backup(folder.backups) == second
    database.close()


def test_there_is_none_of_a_database_that_holds_nothing(folder: DataFolder, clock: HandClock) -> None:
    open_database(folder, clock).close()
    assert daily(folder, clock) is None
    assert list(folder.backups.iterdir()) == []


def test_the_newest_few_stay_and_copies_of_another_kind_too(folder: DataFolder, clock: HandClock) -> None:
    database = open_database(folder, clock)
    begin(database, clock)
    others = ("plancia-20200101T000000000Z-before-0002.sqlite3", "mine.sqlite3", "plancia-2020-daily.txt")
    for name in others:
        (folder.backups / name).touch()
    made = []
    for _ in range(DAILY_KEPT + 2):
        made.append(daily(folder, clock))
        clock.move(minutes=25 * 60)
    kept = {copy.name for copy in folder.backups.iterdir()}
    assert kept == {*others, *(copy.name for copy in made[-DAILY_KEPT:] if copy)}
    database.close()


def test_a_clock_that_was_set_back_does_not_put_an_end_to_it(folder: DataFolder, clock: HandClock) -> None:
    database = open_database(folder, clock)
    begin(database, clock)
    (folder.backups / "plancia-29990101T000000000Z-daily.sqlite3").touch()
    assert daily(folder, clock) is not None
    database.close()


def test_what_a_copy_that_was_cut_off_has_left_goes_with_the_next(
    folder: DataFolder, clock: HandClock
) -> None:
    database = open_database(folder, clock)
    begin(database, clock)
    (folder.backups / "plancia-20200101T000000000Z-daily.partial").touch()
    copy = daily(folder, clock)
    assert list(folder.backups.iterdir()) == [copy]
    database.close()
