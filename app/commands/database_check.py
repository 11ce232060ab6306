"""What doctor looks at in the database as a file: whether it is whole, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from app.commands.checks import Finding
from app.infra.clock import SystemClock
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder
from app.models.backups import newest_backup
from app.models.connection import Sqlite
from app.models.database import refuse_emptied
from app.models.errors import DatabaseNewer, DatabaseUnreadable, StorageError
from app.models.faults import in_words
from app.models.migration import known_migrations
from app.models.restoring import find_damage, find_sound_backup, restore

_MEGABYTE = 1_000_000


def check_database(folder: DataFolder) -> Iterator[Finding]:
    """Every page of the file is read; its layout is compared with the one this version knows."""
    file, known = folder.database, known_migrations()[-1].number
    try:
        refuse_emptied(folder)
        if not file.exists():
            yield Finding("database", "note", "There is no database yet.")
            return
        with in_words(file, folder.backups):
            if damage := find_damage(file):
                raise DatabaseUnreadable(file, damage[:300], None)
            version, engine = _facts(file)
        if version > known:
            raise DatabaseNewer(file, version, known)
    except DatabaseUnreadable as error:
        yield _damaged(error.damage, folder)
        return
    except StorageError as error:
        yield Finding("database", "problem", str(error))
        return
    size, newest = file.stat().st_size / _MEGABYTE, newest_backup(folder.backups)
    kept = f"The newest backup is {newest}." if newest else "There is no backup of it."
    yield Finding("database", "ok", f"The database is sound ({size:,.1f} MB, SQLite {engine}). {kept}")
    if version < known:
        yield Finding("database", "note", "The next start brings it up to date, after a backup.")


def _facts(file: Path) -> tuple[int, str]:
    """Number of its last migration, version of SQLite."""
    sqlite = Sqlite(file)
    try:
        return sqlite.version, str(sqlite.sql("SELECT sqlite_version()")[0][0])
    finally:
        sqlite.close()


def _damaged(damage: str, folder: DataFolder) -> Finding:
    backup = find_sound_backup(folder.backups)
    if backup is None:
        text = (
            f"{damage} {folder.backups} holds no copy that could take its place. Put one of your own there, or "
            f"begin anew with another folder by --data-dir. What was said is also in {folder.sessions}, as text."
        )
        return Finding("database", "problem", text)
    text = (
        f"{damage} The newest whole backup is {backup}. It can take the place of the damaged file, which is kept; "
        "what came after it is then missing from the page."
    )
    return Finding("database", "problem", text, partial(_restore, folder, backup))


def _restore(folder: DataFolder, backup: Path) -> str:
    with FolderLock(folder):
        aside = restore(backup, folder.database, SystemClock().now())
    return (
        f"The database is that of {backup.name} again. The damaged one is kept as {aside.name}; the transcripts in "
        f"{folder.sessions} are as they were."
    )
