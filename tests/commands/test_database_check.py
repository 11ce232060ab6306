"""What doctor says of the database as a file, and how it puts a backup in the place of a damaged one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.commands.checks import Finding
from app.commands.database_check import check_database
from app.infra.clock import SystemClock
from app.infra.errors import FolderInUse
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder
from app.models.backups import back_up
from app.models.connection import Sqlite
from app.models.database import open_database

RUBBISH = b"rubbish" * 1000


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data").create()
    open_database(folder, SystemClock()).close()
    return folder


def only(findings: Iterable[Finding]) -> Finding:
    (finding,) = findings
    return finding


def back_up_now(folder: DataFolder) -> Path:
    database = Sqlite(folder.database)
    try:
        return back_up(database, folder.backups, "daily", SystemClock().now())
    finally:
        database.close()


def test_a_sound_database_says_so_and_names_the_newest_backup(folder: DataFolder) -> None:
    assert only(check_database(folder)).text.endswith("There is no backup of it.")
    (folder.backups / "old.sqlite3").touch()
    assert only(check_database(folder)).text.endswith(f"The newest backup is {folder.backups}/old.sqlite3.")


def test_a_page_that_was_overwritten_is_found(folder: DataFolder) -> None:
    data = bytearray(folder.database.read_bytes())
    data[-4096:] = b"\xff" * 4096
    folder.database.write_bytes(data)
    assert only(check_database(folder)).state == "problem"


def test_a_newer_database_is_a_problem_in_words(folder: DataFolder) -> None:
    with sqlite3.connect(folder.database) as database:
        database.execute("PRAGMA user_version = 9999")
    database.close()
    found = only(check_database(folder))
    assert found.state == "problem"
    assert "newer Plancia" in found.text


def test_an_older_database_waits_for_the_next_start(folder: DataFolder) -> None:
    with sqlite3.connect(folder.database) as database:
        database.execute("PRAGMA user_version = 0")
    database.close()
    assert [each.state for each in check_database(folder)] == ["ok", "note"]


def test_without_a_backup_the_ways_that_are_left_are_named(folder: DataFolder) -> None:
    folder.database.write_bytes(RUBBISH)
    found = only(check_database(folder))
    assert (found.state, found.repair) == ("problem", None)
    assert "holds no copy that could take its place" in found.text
    assert "--data-dir" in found.text
    assert "plancia doctor" not in found.text


def test_the_newest_whole_backup_takes_the_place_of_a_damaged_file_which_is_kept(folder: DataFolder) -> None:
    good = back_up_now(folder)
    (folder.backups / "plancia-29990101T000000000Z-daily.sqlite3").write_bytes(RUBBISH)
    folder.database.write_bytes(RUBBISH)
    found = only(check_database(folder))
    assert str(good) in found.text
    assert folder.database.read_bytes() == RUBBISH, "Looking changes nothing."
    assert found.repair is not None
    assert good.name in found.repair()
    assert only(check_database(folder)).state == "ok"
    (aside,) = folder.root.glob("plancia.sqlite3.damaged-*")
    assert aside.read_bytes() == RUBBISH
    assert good.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_database_without_a_byte_beside_transcripts_is_damage(folder: DataFolder, is_there: bool) -> None:
    good = back_up_now(folder)
    (folder.sessions / "ses_1.jsonl").touch()
    folder.database.write_bytes(b"")
    if not is_there:
        folder.database.unlink()
    found = only(check_database(folder))
    assert (found.state, ("it is empty" in found.text)) == ("problem", is_there)
    assert found.repair is not None
    found.repair()
    assert only(check_database(folder)).state == "ok"
    assert good.exists()


def test_nothing_is_put_in_place_while_somebody_has_the_folder(folder: DataFolder) -> None:
    back_up_now(folder)
    folder.database.write_bytes(RUBBISH)
    found = only(check_database(folder))
    assert found.repair is not None
    with FolderLock(folder), pytest.raises(FolderInUse):
        found.repair()
    assert folder.database.read_bytes() == RUBBISH
