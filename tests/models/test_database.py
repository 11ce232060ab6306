"""Opening, writing and losing the database: what happens, and what is said."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import peewee
import pytest

from app.infra.paths import DataFolder
from app.models.connection import Sqlite
from app.models.database import Database, open_database
from app.models.errors import (
    DatabaseNewer,
    DatabaseUnreadable,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
)
from app.models.migration import known_migrations
from app.models.tables import Setting
from tests.infra.test_paths import as_an_ordinary_user
from tests.models.stands import HandClock, fresh_folder

CLOCK = HandClock()


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return fresh_folder(tmp_path)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole database with two hundred settings in it."""
    folder = fresh_folder(tmp_path_factory.mktemp("filled"))
    database = open_database(folder, CLOCK)
    with database.transaction():
        for number in range(200):
            put(database, f"key {number}", "x" * 300)
    database.close()
    return folder.database.read_bytes()


@pytest.fixture
def public_folder() -> Iterator[DataFolder]:
    """Outside the private folder of the test run, so that another user can come as far as the database."""
    with tempfile.TemporaryDirectory() as root:
        yield fresh_folder(Path(root))
        Path(root, "data").chmod(0o700)


def put(database: Database, key: str, value: object = 1) -> None:
    with database.transaction():
        database.run(Setting.insert(key=key, value=value))


def pair(key: str, value: object) -> tuple[str, object]:
    return key, value


def keys(database: Database) -> list[str]:
    return [key for (key,) in database.values(Setting.select(Setting.key).order_by(Setting.key))]


def test_what_was_written_is_there_after_a_restart(folder: DataFolder) -> None:
    first = open_database(folder, CLOCK)
    put(first, "a", {"deep": ["ö", None, 1.5]})
    first.close()
    second = open_database(folder, CLOCK)
    assert second.rows(pair, Setting.select()) == [("a", {"deep": ["ö", None, 1.5]})]
    second.close()


def test_only_its_owner_can_read_it(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    put(database, "a")
    for file in folder.root.glob("plancia.sqlite3*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    database.close()


def test_two_databases_can_be_open_at_once(tmp_path: Path) -> None:
    one, two = (open_database(fresh_folder(tmp_path / name), CLOCK) for name in ("one", "two"))
    put(one, "in one")
    put(two, "in two")
    assert (keys(one), keys(two)) == (["in one"], ["in two"])
    one.close()
    two.close()


def test_a_transaction_that_fails_leaves_nothing(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)

    def fail() -> None:
        with database.transaction():
            put(database, "inner")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert keys(database) == []
    database.close()


def test_a_nested_transaction_can_fail_alone(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    with database.transaction():
        put(database, "outer")
        with pytest.raises(peewee.IntegrityError):
            put(database, "outer")
        put(database, "after")
    assert keys(database) == ["after", "outer"]
    database.close()


def test_a_full_disk_is_said_in_words_and_passes(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    put(database, "before")
    pages = database._sqlite.sql("PRAGMA page_count")[0][0]
    database._sqlite.sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageFull, match=r"full.*not saved.*Free some space"):
        put(database, "too much", "x" * 1_000_000)
    assert keys(database) == ["before"]
    database._sqlite.sql("PRAGMA max_page_count = 1000000")
    put(database, "after", "x" * 1_000_000)
    assert keys(database) == ["after", "before"]
    database.close()


def test_a_full_disk_in_a_nested_transaction_is_still_called_that(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    pages = database._sqlite.sql("PRAGMA page_count")[0][0]
    database._sqlite.sql(f"PRAGMA max_page_count = {pages}")

    def nest() -> None:
        with database.transaction():
            put(database, "inner", "x" * 1_000_000)

    with pytest.raises(StorageFull):
        nest()
    database._sqlite.sql("PRAGMA max_page_count = 1000000")
    nest()
    assert keys(database) == ["inner"]
    database.close()


@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_database_that_may_not_be_written_is_said_in_words(public_folder: DataFolder, mode: int) -> None:
    folder = public_folder
    open_database(folder, CLOCK).close()
    folder.database.chmod(mode)
    folder.root.chmod(0o555)
    folder.root.parent.chmod(0o755)
    with as_an_ordinary_user(), pytest.raises(StorageReadOnly, match="read-only or not yours"):
        put(open_database(folder, CLOCK), "a")


def test_another_writer_is_named_as_such(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    other = Sqlite(folder.database)
    database._sqlite.sql("PRAGMA busy_timeout = 0")
    with other.all_or_nothing(), pytest.raises(StorageBusy, match="Another program"):
        put(database, "a")
    put(database, "b")
    assert keys(database) == ["b"]
    other.close()
    database.close()


@pytest.mark.parametrize(
    "content", [b"this was never a database " * 100, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_what_is_no_database_is_left_as_it_is(folder: DataFolder, content: bytes) -> None:
    folder.database.write_bytes(content)
    with pytest.raises(DatabaseUnreadable) as refusal:
        open_database(folder, CLOCK)
    said = str(refusal.value)
    assert str(folder.database) in said
    assert "plancia doctor" in said
    assert "no backup" in said
    assert folder.database.read_bytes() == content


@pytest.mark.parametrize("is_there", [True, False])
def test_a_database_without_a_byte_beside_transcripts_is_not_taken_for_a_new_one(
    folder: DataFolder, is_there: bool
) -> None:
    (folder.sessions / "ses_1.jsonl").touch()
    if is_there:
        folder.database.touch()
    with pytest.raises(DatabaseUnreadable, match=r"although .*sessions holds conversations"):
        open_database(folder, CLOCK)
    assert folder.database.exists() == is_there


def test_one_that_a_first_start_had_only_begun_is_a_new_one(folder: DataFolder) -> None:
    folder.database.touch()
    open_database(folder, CLOCK).close()


def test_the_newest_backup_is_named(folder: DataFolder) -> None:
    (folder.backups / "plancia-20260101T000000000Z-before-0002.sqlite3").write_bytes(b"old")
    newest = folder.backups / "plancia-20261130T000000000Z-before-0003.sqlite3"
    newest.write_bytes(b"new")
    folder.database.write_bytes(b"garbage" * 1000)
    with pytest.raises(DatabaseUnreadable) as refusal:
        open_database(folder, CLOCK)
    assert str(newest) in str(refusal.value)
    assert refusal.value.backup == newest


@pytest.mark.parametrize("offset", range(1, 30, 2))
def test_flipped_bytes_never_end_in_anything_but_words(
    folder: DataFolder, filled: bytes, offset: int
) -> None:
    content = bytearray(filled)
    start = (len(content) // 30) * offset
    content[start : start + 64] = bytes(byte ^ 0xFF for byte in content[start : start + 64])
    folder.database.write_bytes(content)
    try:
        damaged = open_database(folder, CLOCK)
    except StorageError:
        assert folder.database.read_bytes() == content
        return
    try:
        keys(damaged)
    except DatabaseUnreadable:
        pass
    finally:
        damaged.close()


def test_damage_after_a_crash_is_found_before_anything_is_written(folder: DataFolder, filled: bytes) -> None:
    content = bytearray(filled)
    content[-4096 * 3 : -4096] = b"\x55" * 4096 * 2
    folder.database.write_bytes(content)
    folder.database.with_name("plancia.sqlite3-wal").write_bytes(b"left behind")
    with pytest.raises(DatabaseUnreadable, match="plancia doctor"):
        open_database(folder, CLOCK)


def test_a_newer_database_is_refused_and_not_touched(folder: DataFolder) -> None:
    open_database(folder, CLOCK).close()
    newer = Sqlite(folder.database)
    newer.user_version = known_migrations()[-1].number + 1
    newer.close()
    before = folder.database.read_bytes()
    with pytest.raises(DatabaseNewer, match="newer Plancia"):
        open_database(folder, CLOCK)
    assert folder.database.read_bytes() == before


def test_a_killed_process_loses_nothing_that_was_committed(folder: DataFolder) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from app.infra.clock import SystemClock\n"
        "from app.infra.paths import DataFolder\n"
        "from app.models.database import open_database\n"
        "from app.models.tables import Setting\n"
        "database = open_database(DataFolder(Path(sys.argv[1])), SystemClock())\n"
        "for number in range(50):\n"
        "    with database.transaction():\n"
        "        database.run(Setting.insert(key=f'{number:02d}', value=number))\n"
        "database._sqlite.sql('BEGIN IMMEDIATE')\n"
        "database.run(Setting.insert(key='uncommitted', value=0))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder.root)], check=False)
    database = open_database(folder, CLOCK)
    assert keys(database) == [f"{number:02d}" for number in range(50)]
    database.close()


def test_deleted_text_is_gone_from_the_files(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    put(database, "secret", {"text": "CANARY-7431 " * 2000})
    database.shrink_log()
    assert b"CANARY-7431" in folder.database.read_bytes()
    database.run(Setting.delete())
    database.shrink_log()
    for file in folder.root.glob("plancia.sqlite3*"):
        assert b"CANARY-7431" not in file.read_bytes()
    database.close()


def test_json_is_stored_readable(folder: DataFolder) -> None:
    database = open_database(folder, CLOCK)
    put(database, "a", {"name": "caffè ☕"})
    stored = database._sqlite.sql("SELECT value FROM settings")[0][0]
    assert stored == json.dumps({"name": "caffè ☕"}, ensure_ascii=False, separators=(",", ":"))
    database.close()
