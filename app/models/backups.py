"""Copies of the database, made by SQLite itself while it is in use; the newest few are kept."""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from app.infra.files import sync_folder
from app.models.connection import Sqlite

KEPT = 5
"""How many backups of migrations stay."""

DAILY_KEPT = 3
_DAY = timedelta(days=1)
_ROOM_LEFT = 256 << 20
"""Bytes that a daily backup leaves free on the disk."""


def back_up(database: Sqlite, folder: Path, label: str, now: datetime, keep: int = KEPT) -> Path:
    """Copy the whole database into ``folder``, durably, and drop the oldest copies whose label begins alike.

    A copy is there whole or not at all. Raises Peewee's errors and ``OSError``.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for cut_off in folder.glob("*.partial"):
        cut_off.unlink()
    target = folder / f"plancia-{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03d}Z-{label}.sqlite3"
    partial = target.with_suffix(".partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        _copy(database, partial)
        _sync(partial)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _drop_oldest(folder, label.partition("-")[0], keep)
    sync_folder(folder)
    return target


def back_up_daily(file: Path, folder: Path, now: datetime) -> Path | None:
    """As ``back_up``, where the last daily copy is a day old; None where none is due or the disk is short of room.

    Over a connection of its own, so that it may run in a thread beside the one that works.
    """
    if not _is_due(folder, now) or shutil.disk_usage(file.parent).free < file.stat().st_size + _ROOM_LEFT:
        return None
    database = Sqlite(file)
    try:
        holds_something = database.sql("SELECT EXISTS (SELECT 1 FROM conversations)")[0][0]
        return back_up(database, folder, "daily", now, DAILY_KEPT) if holds_something else None
    finally:
        database.close()


def list_backups(folder: Path) -> list[Path]:
    """Every copy, whoever made it, the newest first."""
    return sorted(folder.glob("*.sqlite3"), key=lambda path: path.stat().st_mtime, reverse=True)


def newest_backup(folder: Path) -> Path | None:
    """The copy to fall back on."""
    return next(iter(list_backups(folder)), None)


def _is_due(folder: Path, now: datetime) -> bool:
    """The time is in the name; one that lies ahead, after the clock was set back, counts for nothing."""
    due = f"plancia-{now - _DAY:%Y%m%dT%H%M%S}"
    ahead = f"plancia-{now + _DAY:%Y%m%dT%H%M%S}"
    return not any(due < copy.name < ahead for copy in folder.glob("plancia-*-daily.sqlite3"))


def _copy(database: Sqlite, target: Path) -> None:
    copy = Sqlite(target)
    try:
        database.copy_to(copy)
    finally:
        copy.close()


def _sync(file: Path) -> None:
    with file.open("rb+") as handle:
        os.fsync(handle.fileno())


def _drop_oldest(folder: Path, kind: str, keep: int) -> None:
    for old in sorted(folder.glob(f"plancia-*-{kind}*.sqlite3"))[:-keep]:
        old.unlink()
