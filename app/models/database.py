"""The open store: one connection, one writer, and everything SQLite says in words.

A query is built from the tables and given to the ``Database`` to run. All calls are synchronous and short; a
transaction holds no ``await``. The connection may be used from any thread, one at a time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import peewee
from peewee import ModelSelect

from app.infra.clock import Clock
from app.infra.paths import DataFolder
from app.models.backups import newest_backup
from app.models.connection import Sqlite
from app.models.errors import DatabaseUnreadable
from app.models.faults import files_in_words, in_words
from app.models.migration import known_migrations, migrate

R = TypeVar("R")

Change = peewee.ModelInsert | peewee.ModelUpdate | peewee.ModelDelete


class Database:
    """One open database. Every method raises ``StorageError`` in words."""

    def __init__(self, sqlite: Sqlite, file: Path, backups: Path) -> None:
        self._sqlite = sqlite
        self._backups = backups
        self._lock = threading.RLock()
        self.file = file

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes inside or none, written when the block ends. One inside another can fail alone."""
        with self._lock, in_words(self.file, self._backups), self._sqlite.all_or_nothing():
            yield

    def rows(self, into: type[R], query: ModelSelect[Any]) -> list[R]:
        """Every row of the query as ``into``, whose fields are the selected columns by name."""
        with self._lock, in_words(self.file, self._backups):
            return list(query.objects(into).execute(self._sqlite))

    def find(self, into: type[R], query: ModelSelect[Any]) -> R | None:
        """The first row or None."""
        return next(iter(self.rows(into, query.limit(1))), None)

    def values(self, query: ModelSelect[Any]) -> list[tuple[Any, ...]]:
        """The rows as plain tuples, for sums and single columns."""
        with self._lock, in_words(self.file, self._backups):
            return list(query.tuples().execute(self._sqlite))

    def run(self, change: Change) -> int:
        """Insert, update or delete; returns how many rows an update or a delete touched."""
        with self._lock, in_words(self.file, self._backups):
            return int(change.execute(self._sqlite) or 0)

    def shrink_log(self) -> None:
        """Move everything from the write-ahead log into the file and empty the log."""
        with self._lock, in_words(self.file, self._backups):
            self._sqlite.sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with self._lock, in_words(self.file, self._backups):
            self._sqlite.close()


def open_database(folder: DataFolder, clock: Clock) -> Database:
    """Open the database of ``folder``, made or brought up to date where needed.

    Raises ``DatabaseUnreadable``, ``DatabaseNewer``, ``MigrationFailed`` or another ``StorageError``; the file is
    then as it was.
    """
    file, backups = folder.database, folder.backups
    with in_words(file, backups), files_in_words(file):
        cut_off = _size(file.with_name(file.name + "-wal")) > 0
        _make_private(file)
        sqlite = Sqlite(file)
    try:
        with in_words(file, backups):
            if cut_off:
                _check(sqlite, file, backups)
            migrate(sqlite, file, backups, clock, known_migrations())
            sqlite.pragma("journal_mode", "wal")
    except BaseException:
        sqlite.close()
        raise
    return Database(sqlite, file, backups)


def _make_private(file: Path) -> None:
    """A new database is readable by its owner alone; SQLite gives its side files the same mode."""
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))


def _check(sqlite: Sqlite, file: Path, backups: Path) -> None:
    """After an end without a goodbye, look for damage before writing on top of it."""
    found = sqlite.sql("PRAGMA quick_check(1)")[0][0]
    if found != "ok":
        raise DatabaseUnreadable(file, str(found), newest_backup(backups))


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
