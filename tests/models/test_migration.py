"""Migrations: in order, each whole or not at all, and never without a copy of what was before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.infra.paths import DataFolder
from app.models.backups import KEPT
from app.models.connection import Sqlite
from app.models.database import open_database
from app.models.errors import MigrationFailed, StorageError
from app.models.migration import Migration, known_migrations, migrate
from tests.models.stands import HandClock, fresh_folder

CLOCK = HandClock()


def step(number: int, *statements: str) -> Migration:
    def up(database: Sqlite) -> None:
        for statement in statements:
            database.sql(statement)

    return Migration(number, f"{number:04d}_step", up)


ONE = step(
    1,
    "CREATE TABLE shelf (id INTEGER PRIMARY KEY, book TEXT)",
    "INSERT INTO shelf (book) VALUES ('Moby-Dick')",
)
TWO = step(2, "ALTER TABLE shelf ADD COLUMN year INTEGER", "UPDATE shelf SET year = 1851")
BROKEN = step(3, "UPDATE shelf SET book = 'lost'", "INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return fresh_folder(tmp_path)


def run(folder: DataFolder, *steps: Migration) -> Sqlite:
    database = Sqlite(folder.database)
    try:
        migrate(database, folder.database, folder.backups, CLOCK, steps)
    except BaseException:
        database.close()
        raise
    return database


def shelf(file: Path) -> list[tuple[object, ...]]:
    database = Sqlite(file)
    rows = database.sql("SELECT * FROM shelf")
    database.close()
    return rows


def test_steps_run_once_and_in_order(folder: DataFolder) -> None:
    run(folder, ONE, TWO).close()
    database = run(folder, ONE, TWO)
    assert database.version == 2
    assert database.sql("SELECT book, year FROM shelf") == [("Moby-Dick", 1851)]
    database.close()


def test_a_new_database_needs_no_backup(folder: DataFolder) -> None:
    run(folder, ONE).close()
    assert list(folder.backups.iterdir()) == []


def test_before_each_step_on_an_old_database_there_is_a_copy(folder: DataFolder) -> None:
    run(folder, ONE).close()
    run(folder, ONE, TWO).close()
    (copy,) = folder.backups.iterdir()
    assert copy.name == "plancia-20261130T141024871Z-before-0002.sqlite3"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert shelf(copy) == [(1, "Moby-Dick")]


def test_a_copy_holds_what_is_still_in_the_log(folder: DataFolder) -> None:
    database = run(folder, ONE)
    database.pragma("journal_mode", "wal")
    database.sql("INSERT INTO shelf (book) VALUES ('Billy Budd')")
    migrate(database, folder.database, folder.backups, CLOCK, [ONE, TWO])
    (copy,) = folder.backups.glob("*.sqlite3")
    assert [book for _, book in shelf(copy)] == ["Moby-Dick", "Billy Budd"]
    database.close()


def test_a_failed_step_leaves_the_database_as_it_was_and_names_the_copy(folder: DataFolder) -> None:
    run(folder, ONE, TWO).close()
    with pytest.raises(MigrationFailed) as failure:
        run(folder, ONE, TWO, BROKEN)
    said = str(failure.value)
    assert "0003_step" in said
    assert "as it was before" in said
    assert failure.value.backup is not None
    assert str(failure.value.backup) in said
    assert shelf(folder.database) == [(1, "Moby-Dick", 1851)] == shelf(failure.value.backup)
    assert run(folder, ONE, TWO).version == 2


def test_steps_before_the_failed_one_stay(folder: DataFolder) -> None:
    run(folder, ONE).close()
    with pytest.raises(MigrationFailed):
        run(folder, ONE, TWO, BROKEN)
    database = Sqlite(folder.database)
    assert database.version == 2
    database.close()


def test_a_step_that_orphans_rows_is_undone(folder: DataFolder) -> None:
    linked = step(2, "CREATE TABLE page (book INTEGER REFERENCES shelf (id))", "INSERT INTO page VALUES (77)")
    run(folder, ONE).close()
    with pytest.raises(MigrationFailed, match="page would point at a missing row of shelf"):
        run(folder, ONE, linked)
    assert shelf(folder.database) == [(1, "Moby-Dick")]


def test_a_table_can_be_rebuilt_without_losing_what_points_at_it(folder: DataFolder) -> None:
    linked = step(
        2,
        "CREATE TABLE page (book INTEGER REFERENCES shelf (id) ON DELETE CASCADE)",
        "INSERT INTO page VALUES (1)",
    )
    rebuilt = step(
        3,
        "CREATE TABLE shelf_new (id INTEGER PRIMARY KEY, book TEXT NOT NULL)",
        "INSERT INTO shelf_new SELECT id, book FROM shelf",
        "DROP TABLE shelf",
        "ALTER TABLE shelf_new RENAME TO shelf",
    )
    database = run(folder, ONE, linked, rebuilt)
    assert database.sql("SELECT * FROM page") == [(1,)]
    assert database.sql("PRAGMA foreign_keys") == [(1,)]
    database.close()


def test_only_the_newest_copies_stay_and_only_copies_of_ours_go(folder: DataFolder) -> None:
    mine = folder.backups / "before-the-holidays.sqlite3"
    mine.write_bytes(b"kept by the user")
    steps = [ONE, *(step(number) for number in range(2, KEPT + 5))]
    clock = HandClock()
    for count in range(1, len(steps) + 1):
        clock.move(minutes=1)
        database = Sqlite(folder.database)
        migrate(database, folder.database, folder.backups, clock, steps[:count])
        database.close()
    copies = sorted(path.name[-12:-8] for path in folder.backups.glob("plancia-*"))
    assert copies == [f"{number:04d}" for number in range(5, KEPT + 5)]
    assert mine.exists()


def test_without_a_copy_no_step_is_begun(folder: DataFolder) -> None:
    run(folder, ONE).close()
    folder.backups.rmdir()
    folder.backups.write_bytes(b"a file in its place")
    with pytest.raises(StorageError):
        run(folder, ONE, TWO)
    assert shelf(folder.database) == [(1, "Moby-Dick")]


CRASH = """
import os, sys
from pathlib import Path
from app.infra.paths import DataFolder
from app.models.migration import Migration
from tests.models.test_migration import ONE, TWO, run

folder, where = DataFolder(Path(sys.argv[1])), sys.argv[2]

def up(database):
    if where == "before":
        os._exit(9)
    TWO.up(database)
    if where == "after":
        os._exit(9)

def three(database):
    os._exit(9)

run(folder, ONE, Migration(2, "0002_step", up), Migration(3, "0003_step", three))
"""


@pytest.mark.parametrize(("where", "version"), [("before", 1), ("after", 1), ("next", 2)])
def test_a_crash_at_any_place_leaves_a_database_before_or_after_a_step(
    folder: DataFolder, where: str, version: int
) -> None:
    run(folder, ONE).close()
    ended = subprocess.run([sys.executable, "-c", CRASH, str(folder.root), where], check=False)
    assert ended.returncode == 9
    database = Sqlite(folder.database)
    assert database.version == version
    database.close()
    resumed = run(folder, ONE, TWO)
    assert resumed.sql("SELECT book, year FROM shelf") == [("Moby-Dick", 1851)]
    resumed.close()


def test_the_shipped_migrations_are_numbered_without_gaps() -> None:
    steps = known_migrations()
    assert [each.number for each in steps] == list(range(1, len(steps) + 1))
    assert all(each.name.startswith(f"{each.number:04d}_") for each in steps)


def test_opening_brings_a_new_folder_to_the_newest_layout(folder: DataFolder) -> None:
    open_database(folder, CLOCK).close()
    database = Sqlite(folder.database)
    assert database.version == known_migrations()[-1].number
    database.close()


def test_an_order_of_models_outlives_the_step_that_lets_the_environment_into_it(folder: DataFolder) -> None:
    *before, step = known_migrations()[:4]
    database = run(folder, *before)
    database.sql(
        "INSERT INTO model_sources (name, kind, models, keys, position) VALUES ('lab', 'openai', '[]', '[]', 1)"
    )
    database.sql("INSERT INTO model_order VALUES ('lab/big', 'lab', 1)")
    database.close()
    database = run(folder, *before, step)
    database.sql("INSERT INTO model_order VALUES ('openai', 'openai', 2)")
    assert database.sql("SELECT label FROM model_order ORDER BY position") == [("lab/big",), ("openai",)]
    database.close()
