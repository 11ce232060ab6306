"""What SQLite reports, said in words: one place that turns its codes into the errors of this layer."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

import peewee

from app.models.backups import newest_backup
from app.models.errors import DatabaseUnreadable, StorageBusy, StorageError, StorageFull, StorageReadOnly

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_ROOM_NEEDED = 1 << 16
"""Bytes that SQLite may ask for at once."""


class Code(IntEnum):
    """SQLite's result codes, as numbered in its own documentation."""

    PERM = 3
    BUSY = 5
    LOCKED = 6
    READONLY = 8
    IOERR = 10
    CORRUPT = 11
    FULL = 13
    CANTOPEN = 14
    NOTADB = 26


@contextmanager
def in_words(file: Path, backups: Path) -> Iterator[None]:
    """Raise what SQLite reports inside the block as a ``StorageError`` about ``file``.

    A broken constraint passes: it says something about the caller, not about the storage.
    """
    try:
        yield
    except peewee.IntegrityError:
        raise
    except peewee.DatabaseError as error:
        raise _storage_error(error, file, backups) from error


@contextmanager
def files_in_words(file: Path) -> Iterator[None]:
    """Raise what the system reports about files inside the block as a ``StorageError`` about ``file``."""
    try:
        yield
    except OSError as error:
        raise _system_error(error, file) from error


def _storage_error(error: peewee.DatabaseError, file: Path, backups: Path) -> StorageError:
    match _code(error):
        case Code.FULL:
            return StorageFull(file)
        case Code.IOERR if _has_no_room(file.parent):
            return StorageFull(file)
        case Code.PERM | Code.READONLY | Code.CANTOPEN:
            return StorageReadOnly(file)
        case Code.BUSY | Code.LOCKED:
            return StorageBusy(file)
        case Code.IOERR | Code.CORRUPT | Code.NOTADB:
            return DatabaseUnreadable(file, str(error), newest_backup(backups))
        case _:
            return StorageError(f"The database {file} refused a change ({error}). Nothing was saved.")


def _system_error(error: OSError, file: Path) -> StorageError:
    match error.errno:
        case number if number in _NO_ROOM:
            return StorageFull(file)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return StorageReadOnly(file)
        case _:
            return StorageError(f"{file} cannot be used: {error.strerror or error}. Nothing was saved.")


def _has_no_room(folder: Path) -> bool:
    """Whether an I/O error is a full disk in disguise: SQLite says so of a quota that is used up, for one."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
            return probe.write(bytes(_ROOM_NEEDED)) < _ROOM_NEEDED
    except OSError as error:
        return error.errno in _NO_ROOM


def _code(error: peewee.DatabaseError) -> int:
    """SQLite's primary result code, from the driver's own exception that Peewee keeps."""
    return int(getattr(getattr(error, "orig", None), "sqlite_errorcode", 0)) & 0xFF
