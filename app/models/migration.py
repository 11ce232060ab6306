"""Bringing a database up to date: numbered steps, each in a transaction of its own, a backup before each.

SQLite's ``user_version`` holds the number of the last step, and changes in the same transaction as the step.
So a crash at any moment leaves a database that is wholly before or wholly after a step.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.infra.clock import Clock
from app.models import migrations
from app.models.backups import back_up
from app.models.connection import Sqlite
from app.models.errors import (
    DatabaseNewer,
    MigrationFailed,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
)
from app.models.faults import files_in_words, in_words


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. ``up`` runs inside a transaction and with foreign keys off, so that it may rebuild tables."""

    number: int
    name: str
    up: Callable[[Sqlite], None]


def known_migrations() -> tuple[Migration, ...]:
    """The files ``migrations/NNNN_name.py`` in order of their numbers."""
    names = sorted(module.name for module in pkgutil.iter_modules(migrations.__path__))
    return tuple(_load(name) for name in names)


def migrate(database: Sqlite, file: Path, backups: Path, clock: Clock, steps: Sequence[Migration]) -> None:
    """Run the steps that ``database`` has not seen yet.

    Raises ``DatabaseNewer`` before anything is written, ``MigrationFailed`` with the database as it was before
    the failed step, and ``StorageError`` where a backup cannot be made: then that step was not begun.
    """
    found, known = database.version, steps[-1].number
    if found > known:
        raise DatabaseNewer(file, found, known)
    for step in steps:
        if step.number > found:
            # What this very call has made holds nothing yet.
            backup = _back_up(step, database, file, backups, clock) if found > 0 else None
            _run(step, database, file, backups, backup)


def _run(step: Migration, database: Sqlite, file: Path, backups: Path, backup: Path | None) -> None:
    try:
        with in_words(file, backups), _foreign_keys_off(database), database.all_or_nothing():
            step.up(database)
            _refuse_orphans(database)
            database.user_version = step.number
    except (StorageFull, StorageReadOnly, StorageBusy):
        raise
    except Exception as error:
        raise MigrationFailed(file, step.name, str(error), backup) from error


def _back_up(step: Migration, database: Sqlite, file: Path, backups: Path, clock: Clock) -> Path:
    with in_words(file, backups), files_in_words(backups):
        return back_up(database, backups, f"before-{step.number:04d}", clock.now())


@contextmanager
def _foreign_keys_off(database: Sqlite) -> Iterator[None]:
    database.foreign_keys = 0
    try:
        yield
    finally:
        database.foreign_keys = 1


def _refuse_orphans(database: Sqlite) -> None:
    for table, _, parent, _ in database.sql("PRAGMA foreign_key_check"):
        raise StorageError(f"a row of {table} would point at a missing row of {parent}")


def _load(name: str) -> Migration:
    module = importlib.import_module(f"{migrations.__name__}.{name}")
    return Migration(int(name[:4]), name, module.up)
