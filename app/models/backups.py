"""Copies of the database, made by SQLite itself while it is in use; the newest few are kept."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from app.infra.files import sync_folder
from app.models.connection import Sqlite

KEPT = 5
"""How many backups of migrations stay."""


def back_up(database: Sqlite, folder: Path, label: str, now: datetime, keep: int = KEPT) -> Path:
    """Copy the whole database into ``folder``, durably, and drop the oldest copies with the same kind of name.

    A copy is there whole or not at all. Raises Peewee's errors and ``OSError``.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    _drop_oldest(folder, keep)
    sync_folder(folder)
    return target


def newest_backup(folder: Path) -> Path | None:
    """The copy to fall back on, whoever made it."""
    return max(folder.glob("*.sqlite3"), key=lambda path: path.stat().st_mtime, default=None)


def _copy(database: Sqlite, target: Path) -> None:
    copy = Sqlite(target)
    try:
        database.copy_to(copy)
    finally:
        copy.close()


def _sync(file: Path) -> None:
    with file.open("rb+") as handle:
        os.fsync(handle.fileno())


def _drop_oldest(folder: Path, keep: int) -> None:
    for old in sorted(folder.glob("plancia-*-before-*.sqlite3"))[:-keep]:
        old.unlink()
