"""A backup in the place of a damaged database: nothing of either is lost."""

from __future__ import annotations

from pathlib import Path

import peewee
import pytest

from app.infra.paths import DataFolder
from app.models.backups import back_up
from app.models.connection import Sqlite
from app.models.database import open_database
from app.models.restoring import find_damage, find_sound_backup, restore
from app.models.tables import Setting
from tests.models.stands import HandClock, fresh_folder

CLOCK = HandClock()


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """A folder with a backup that has one setting, and a database that has two, the second in its log."""
    folder = fresh_folder(tmp_path)
    put(folder, "old")
    database = Sqlite(folder.database)
    back_up(database, folder.backups, "daily", CLOCK.now())
    database.close()
    put(folder, "new")
    return folder


def put(folder: DataFolder, key: str) -> None:
    database = open_database(folder, CLOCK)
    database.run(Setting.insert(key=key, value=1))
    database.close()


def keys(file: Path) -> list[str]:
    database = Sqlite(file)
    try:
        return [key for (key,) in database.sql("SELECT key FROM settings ORDER BY key")]
    finally:
        database.close()


def backup_of(folder: DataFolder) -> Path:
    copy = find_sound_backup(folder.backups)
    assert copy is not None
    return copy


def test_the_damaged_one_is_set_aside_with_its_log_and_the_backup_stays(folder: DataFolder) -> None:
    wal = folder.database.with_name("plancia.sqlite3-wal")
    wal.write_bytes(b"a log of the damaged one")
    damaged = folder.database.read_bytes()
    aside = restore(backup_of(folder), folder.database, CLOCK.now())
    assert aside.name == "plancia.sqlite3.damaged-20261130T141024Z"
    assert aside.read_bytes() == damaged
    assert aside.with_name(aside.name + "-wal").read_bytes() == b"a log of the damaged one"
    assert not wal.exists()
    assert keys(folder.database) == ["old"] == keys(backup_of(folder))
    assert folder.database.stat().st_mode & 0o777 == 0o600
    assert not list(folder.root.glob("*.restored"))


def test_a_restored_database_goes_on(folder: DataFolder) -> None:
    restore(backup_of(folder), folder.database, CLOCK.now())
    put(folder, "newer")
    assert keys(folder.database) == ["newer", "old"]


def test_after_a_crash_in_the_middle_it_is_done_again(folder: DataFolder) -> None:
    folder.database.unlink()
    folder.database.with_name("plancia.sqlite3.restored").write_bytes(b"half of it")
    restore(backup_of(folder), folder.database, CLOCK.now())
    assert keys(folder.database) == ["old"]


@pytest.mark.parametrize("content", [b"", b"rubbish" * 1000, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_copy_that_is_not_whole_is_passed_over_for_an_older_one(folder: DataFolder, content: bytes) -> None:
    good = backup_of(folder)
    bad = folder.backups / "plancia-29990101T000000000Z-daily.sqlite3"
    bad.write_bytes(content)
    assert find_sound_backup(folder.backups) == good
    good.unlink()
    assert find_sound_backup(folder.backups) is None


def test_a_copy_of_a_newer_version_is_passed_over_too(folder: DataFolder) -> None:
    newer = Sqlite(backup_of(folder))
    newer.user_version = 9999
    newer.close()
    assert find_sound_backup(folder.backups) is None


def test_damage_is_what_sqlite_says_it_is(folder: DataFolder) -> None:
    assert find_damage(folder.database) == ""
    with folder.database.open("rb+") as file:
        file.seek(36)
        file.write(bytes((0, 0, 0, 5)))
    assert "Freelist" in find_damage(folder.database)
    assert "\n" not in find_damage(folder.database)
    folder.database.write_bytes(b"rubbish" * 1000)
    with pytest.raises(peewee.DatabaseError):
        find_damage(folder.database)
