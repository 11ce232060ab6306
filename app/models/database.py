"""The open store: one connection, one writer, and everything SQLite says in words.

A query is built from the tables and given to the ``Database`` to run. All calls are synchronous and short; a
transaction holds no ``await``. The connection may be used from any thread, one at a time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import peewee
from peewee import ModelSelect

from app.infra.clock import Clock
from app.infra.paths import DataFolder
from app.models.backups import newest_backup
from app.models.connection import Sqlite
from app.models.errors import DatabaseUnreadable
from app.models.faults import files_in_words, in_words
from app.models.migration import known_migrations, migrate
from app.models.statements import from_store, insert_into, to_store, update_of
from app.models.tables import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R")

Change = peewee.ModelInsert | peewee.ModelUpdate | peewee.ModelDelete


_CHECKED_AT_START = 64 << 20
"""Bytes. A bigger database is looked through by `plancia doctor` only, so that the start stays quick."""


class Database:
    """One open database. Every method raises ``StorageError`` in words."""

    def __init__(self, sqlite: Sqlite, file: Path, backups: Path) -> None:
        self._sqlite = sqlite
        self._backups = backups
        self._lock = threading.RLock()
        self._questions: dict[int, tuple[ModelSelect[Any], str]] = {}
        self.file = file

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes inside or none, written when the block ends. One inside another can fail alone."""
        with self._lock, in_words(self.file, self._backups), self._sqlite.all_or_nothing():
            yield

    def rows(self, into: Callable[..., R], query: ModelSelect[Any], *holes: object) -> list[R]:
        """Every row of a query for whole rows; ``into`` takes the columns in the table's order.

        A query with ``HOLE`` in it is a constant of its module and is given what belongs there.
        """
        read = from_store(query.model)
        return [into(*read(row)) for row in self.values(query, *holes)]

    def find(self, into: Callable[..., R], query: ModelSelect[Any], *holes: object) -> R | None:
        """The first row or None."""
        return next(iter(self.rows(into, query if holes else query.limit(1), *holes)), None)

    def values(self, query: ModelSelect[Any], *holes: object) -> list[tuple[Any, ...]]:
        """The rows as SQLite has them: numbers and texts."""
        with self._lock, in_words(self.file, self._backups):
            if holes:
                return self._sqlite.sql(self._compiled(query), holes)
            return self._sqlite.run(query)

    def insert(self, table: type[Table], row: DataclassInstance) -> None:
        """Write a row whose fields are the columns of the table."""
        values = {field.name: getattr(row, field.name) for field in fields(row)}
        with self._lock, in_words(self.file, self._backups):
            self._sqlite.sql(insert_into(table, tuple(values)), to_store(table, values))

    def update(self, table: type[Table], key: str, values: Mapping[str, object]) -> None:
        """Change the row with that primary key; nothing happens where there is none."""
        with self._lock, in_words(self.file, self._backups):
            self._sqlite.sql(update_of(table, tuple(values)), [*to_store(table, values), key])

    def run(self, change: Change) -> int:
        """Insert, update or delete by a query; returns how many rows an update or a delete touched."""
        with self._lock, in_words(self.file, self._backups):
            return int(change.execute(self._sqlite) or 0)

    def shrink_log(self) -> None:
        """Move everything from the write-ahead log into the file and empty the log."""
        with self._lock, in_words(self.file, self._backups):
            self._sqlite.sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with self._lock, in_words(self.file, self._backups):
            self._sqlite.close()

    def _compiled(self, query: ModelSelect[Any]) -> str:
        """The text of a constant query, kept with the query so that its identity stays its own."""
        known = self._questions.get(id(query))
        if known is None:
            text, values = self._sqlite.text(query)
            if values:
                raise ValueError(f"A query with holes is all holes, but this one holds {values}: {text}")
            known = self._questions[id(query)] = (query, text)
        return known[1]


def open_database(folder: DataFolder, clock: Clock) -> Database:
    """Open the database of ``folder``, made or brought up to date where needed.

    Raises ``DatabaseUnreadable``, ``DatabaseNewer``, ``MigrationFailed`` or another ``StorageError``; the file is
    then as it was.
    """
    file, backups = folder.database, folder.backups
    with in_words(file, backups), files_in_words(file):
        refuse_emptied(folder)
        cut_off = _size(file.with_name(file.name + "-wal")) > 0
        _make_private(file)
        sqlite = Sqlite(file)
    try:
        with in_words(file, backups):
            if cut_off and _size(file) <= _CHECKED_AT_START:
                _check(sqlite, file, backups)
            migrate(sqlite, file, backups, clock, known_migrations())
            sqlite.pragma("journal_mode", "wal")
    except BaseException:
        sqlite.close()
        raise
    return Database(sqlite, file, backups)


def refuse_emptied(folder: DataFolder) -> None:
    """A database without a byte is a new one, unless transcripts tell of another. Raises ``DatabaseUnreadable``."""
    if _size(folder.database) == 0 and any(folder.sessions.glob("*.jsonl")):
        state = "it is empty" if folder.database.exists() else "it is gone"
        detail = f"{state}, although {folder.sessions} holds conversations"
        raise DatabaseUnreadable(folder.database, detail, newest_backup(folder.backups))


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
