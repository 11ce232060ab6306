"""SQLite as the store wants it: the newest driver Peewee finds, careful settings, one explicit connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from peewee import ModelSelect, SqliteDatabase
from peewee import __exception_wrapper__ as peewees_errors  # type: ignore[attr-defined]  # not in its stubs

_PRAGMAS = {
    "synchronous": "normal",
    "foreign_keys": 1,
    "trusted_schema": 0,
    "cell_size_check": 1,
    "secure_delete": 1,
}
"""``secure_delete``: what the user deletes is gone from the file too."""

_BUSY_SECONDS = 5


class Sqlite(SqliteDatabase):
    """One connection, opened at once. It never opens itself again behind our back."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            str(file),
            pragmas=_PRAGMAS,
            timeout=_BUSY_SECONDS,
            autoconnect=False,
            thread_safe=False,
            check_same_thread=False,
        )
        self.connect()

    def sql(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement with its values; all its rows. Raises Peewee's errors."""
        cursor = self.execute_sql(statement, values)  # type: ignore[no-untyped-call]  # Peewee's stubs leave it open
        with peewees_errors:  # Peewee lets the driver's own errors out of a fetch
            return list(cursor.fetchall())

    def copy_to(self, other: Sqlite) -> None:
        """The whole database, as it is at one moment. Raises Peewee's errors."""
        with peewees_errors:
            self.driver.backup(other.driver)

    def run(self, query: ModelSelect[Any]) -> list[tuple[Any, ...]]:
        """All rows of a query, unconverted."""
        return self.sql(*self.text(query))

    def text(self, query: ModelSelect[Any]) -> tuple[str, list[object]]:
        """A query as a statement and its values."""
        text, values = self.get_sql_context().sql(query).query()  # type: ignore[no-untyped-call]  # as above
        return str(text), list(values)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """A transaction that may write from its first statement on; inside another one, a part that can fail alone.

        A full disk or an I/O error makes SQLite roll back by itself: then there is nothing left to undo.
        """
        nested = self.driver.in_transaction
        self.sql("SAVEPOINT part" if nested else "BEGIN IMMEDIATE")
        try:
            yield
            self.sql("RELEASE part" if nested else "COMMIT")
        except BaseException:
            if self.driver.in_transaction:
                self.sql("ROLLBACK TO part" if nested else "ROLLBACK")
            if nested and self.driver.in_transaction:
                self.sql("RELEASE part")
            raise

    @property
    def driver(self) -> Any:
        """The connection itself, of ``pysqlite3`` or ``sqlite3``, whichever is newer."""
        return self.connection()  # type: ignore[no-untyped-call]  # as above

    @property
    def version(self) -> int:
        """Number of the last migration; 0 for a new file."""
        return int(self.user_version)
