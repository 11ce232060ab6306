"""The connection: careful settings, and transactions that end as they should."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import peewee
import pytest

from app.models.connection import Sqlite
from app.models.database import open_database
from tests.models.stands import HandClock, fresh_folder


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Sqlite]:
    sqlite = Sqlite(tmp_path / "shelf.sqlite3")
    sqlite.sql("CREATE TABLE shelf (book TEXT UNIQUE)")
    yield sqlite
    sqlite.close()


def put(sqlite: Sqlite, *books: str) -> None:
    with sqlite.all_or_nothing():
        for book in books:
            sqlite.sql("INSERT INTO shelf VALUES (?)", [book])


def shelf(sqlite: Sqlite) -> list[str]:
    return [book for (book,) in sqlite.sql("SELECT book FROM shelf ORDER BY book")]


def test_it_is_set_up_carefully(tmp_path: Path) -> None:
    folder = fresh_folder(tmp_path)
    open_database(folder, HandClock()).close()
    sqlite = Sqlite(folder.database)
    wanted = {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "trusted_schema": 0,
        "secure_delete": 1,
        "cell_size_check": 1,
    }
    assert {name: sqlite.sql(f"PRAGMA {name}")[0][0] for name in wanted} == wanted
    sqlite.close()


def test_a_failure_takes_back_all_of_it(sqlite: Sqlite) -> None:
    put(sqlite, "Emma")
    with pytest.raises(peewee.IntegrityError):
        put(sqlite, "Ulysses", "Emma")
    assert shelf(sqlite) == ["Emma"]


def test_a_part_can_fail_alone(sqlite: Sqlite) -> None:
    with sqlite.all_or_nothing():
        put(sqlite, "Emma")
        with pytest.raises(peewee.IntegrityError):
            put(sqlite, "Ulysses", "Emma")
        put(sqlite, "Middlemarch")
    assert shelf(sqlite) == ["Emma", "Middlemarch"]


def test_what_a_part_did_goes_with_the_whole(sqlite: Sqlite) -> None:
    def fail() -> None:
        with sqlite.all_or_nothing():
            put(sqlite, "Emma")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert shelf(sqlite) == []
    put(sqlite, "Ulysses")
    assert shelf(sqlite) == ["Ulysses"]


def test_a_rollback_by_sqlite_itself_hides_no_error(sqlite: Sqlite) -> None:
    sqlite.sql("PRAGMA max_page_count = 3")
    with pytest.raises(peewee.OperationalError, match="full"):
        put(sqlite, "Emma", "x" * 100_000)
    assert not sqlite.driver.in_transaction
    assert shelf(sqlite) == []


def test_a_writer_holds_its_place_from_the_first_statement_on(sqlite: Sqlite) -> None:
    other = Sqlite(Path(sqlite.database))
    other.sql("PRAGMA busy_timeout = 0")
    with sqlite.all_or_nothing():
        assert shelf(sqlite) == []
        with pytest.raises(peewee.OperationalError, match="locked"):
            put(other, "Emma")
    other.close()


def test_damage_that_shows_while_rows_are_read_is_an_error_of_peewee(tmp_path: Path) -> None:
    """The first rows are sound; SQLite finds out on the way."""
    file = tmp_path / "shelf.sqlite3"
    sqlite = Sqlite(file)
    sqlite.sql("CREATE TABLE shelf (book TEXT)")
    put(sqlite, *(f"{number} {'x' * 3000}" for number in range(40)))
    sqlite.close()
    data = bytearray(file.read_bytes())
    data[-4096 * 20 :] = b"\xff" * 4096 * 20
    file.write_bytes(data)
    damaged = Sqlite(file)
    assert damaged.sql("SELECT book FROM shelf LIMIT 1")
    with pytest.raises(peewee.DatabaseError, match="malformed"):
        damaged.sql("SELECT book FROM shelf")
    damaged.close()


def test_a_copy_that_has_no_room_is_an_error_of_peewee(tmp_path: Path, sqlite: Sqlite) -> None:
    put(sqlite, "x" * 100_000)
    copy = Sqlite(tmp_path / "copy.sqlite3")
    copy.sql("PRAGMA max_page_count = 3")
    with pytest.raises(peewee.OperationalError, match="full"):
        sqlite.copy_to(copy)
    copy.close()
