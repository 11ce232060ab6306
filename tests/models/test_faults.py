"""SQLite's codes and the system's errors, each as the error that says what to do."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import peewee
import pytest

from app.models.errors import DatabaseUnreadable, StorageBusy, StorageError, StorageFull, StorageReadOnly
from app.models.faults import files_in_words, in_words


class Reported(Exception):
    """Stands for the driver's exception, which carries SQLite's extended code."""

    def __init__(self, code: int) -> None:
        super().__init__("as SQLite says it")
        self.sqlite_errorcode = code


def said_about(error: Exception, folder: Path) -> StorageError:
    with (
        pytest.raises(StorageError) as refusal,
        in_words(folder / "plancia.sqlite3", folder),
        files_in_words(folder),
    ):
        raise error
    return refusal.value


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1, StorageError),
        (3, StorageReadOnly),
        (5, StorageBusy),
        (5 | 2 << 8, StorageBusy),
        (6, StorageBusy),
        (8, StorageReadOnly),
        (8 | 4 << 8, StorageReadOnly),
        (10, DatabaseUnreadable),
        (10 | 12 << 8, DatabaseUnreadable),
        (11, DatabaseUnreadable),
        (11 | 1 << 8, DatabaseUnreadable),
        (13, StorageFull),
        (14, StorageReadOnly),
        (26, DatabaseUnreadable),
    ],
)
def test_every_code_has_its_words(tmp_path: Path, code: int, kind: type[StorageError]) -> None:
    said = said_about(peewee.OperationalError(Reported(code), "as SQLite says it"), tmp_path)
    assert type(said) is kind
    assert str(tmp_path / "plancia.sqlite3") in str(said)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StorageFull),
        (errno.EDQUOT, StorageFull),
        (errno.EFBIG, StorageFull),
        (errno.EACCES, StorageReadOnly),
        (errno.EROFS, StorageReadOnly),
        (errno.EIO, StorageError),
        (errno.ENOTDIR, StorageError),
    ],
)
def test_errors_of_the_system_too(tmp_path: Path, number: int, kind: type[StorageError]) -> None:
    said = said_about(OSError(number, "as the system says it"), tmp_path)
    assert type(said) is kind
    assert str(tmp_path) in str(said)


def test_an_io_error_where_nothing_more_can_be_written_is_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for a quota: there is room on the disk, but not for us."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        said = said_about(peewee.OperationalError(Reported(10 | 3 << 8), "disk I/O error"), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert type(said) is StorageFull


def test_an_error_without_a_code_is_quoted(tmp_path: Path) -> None:
    assert "out of luck" in str(said_about(peewee.DatabaseError("out of luck"), tmp_path))


@pytest.mark.parametrize("error", [peewee.IntegrityError("UNIQUE"), ValueError("ours"), KeyboardInterrupt()])
def test_what_is_not_about_storage_passes(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)), in_words(tmp_path, tmp_path):
        raise error


def test_a_system_error_of_the_caller_is_not_taken_for_the_storage(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), in_words(tmp_path, tmp_path):
        raise FileNotFoundError
