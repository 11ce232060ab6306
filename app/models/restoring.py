"""A backup in the place of a damaged database. Nothing is deleted: the damaged one is set aside."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path

from peewee import DatabaseError

from app.infra.files import sync_folder
from app.models.backups import list_backups
from app.models.connection import Sqlite
from app.models.migration import known_migrations

_HEADING = "*** in database main ***\n"


def find_damage(file: Path) -> str:
    """What SQLite finds wrong when it reads every page, or nothing. Raises Peewee's errors where it can read none."""
    sqlite = Sqlite(file)
    try:
        said = "\n".join(str(found) for (found,) in sqlite.sql("PRAGMA integrity_check(3)"))
        return "" if said == "ok" else said.removeprefix(_HEADING).replace("\n", "; ")
    finally:
        sqlite.close()


def find_sound_backup(folder: Path) -> Path | None:
    """The newest copy that is whole and that this version knows how to read."""
    return next((copy for copy in list_backups(folder) if _is_sound(copy)), None)


def restore(backup: Path, file: Path, now: datetime) -> Path:
    """Put a copy of ``backup`` in the place of ``file``; returns where the damaged one lies from now on.

    Belongs to the owner of the folder. After a crash in the middle it can be called again. Raises ``OSError``.
    """
    aside = file.with_name(f"{file.name}.damaged-{now:%Y%m%dT%H%M%S}Z")
    fresh = file.with_name(f"{file.name}.restored")
    shutil.copyfile(backup, fresh)
    fresh.chmod(0o600)
    with fresh.open("rb+") as handle:
        os.fsync(handle.fileno())
    for end in ("", "-wal", "-shm"):  # a log that stayed would be played into the restored file
        if (damaged := file.with_name(file.name + end)).exists():
            damaged.replace(aside.with_name(aside.name + end))
    fresh.replace(file)
    sync_folder(file.parent)
    return aside


def _is_sound(copy: Path) -> bool:
    try:
        sqlite = Sqlite(copy)
        try:
            version = sqlite.version
        finally:
            sqlite.close()
        return 0 < version <= known_migrations()[-1].number and not find_damage(copy)
    except DatabaseError:
        return False
