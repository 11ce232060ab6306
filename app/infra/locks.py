"""One data folder, one owner; many who take turns: locks that die with their process."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from app.infra.errors import DataFolderError, FolderInUse
from app.infra.paths import DataFolder, in_words


class FolderLock:
    """The exclusive right to a data folder, held by the open file and not by its content.

    The system drops it when the process ends, however it ends, so a lock left behind never blocks.
    The file holds the owner's process id, only to be able to name it. Children started with ``exec`` do not keep it.
    """

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock at once or raise ``FolderInUse``; ``DataFolderError`` where the folder cannot be locked."""
        if self._descriptor is not None:
            return
        try:
            self._descriptor = self._take()
        except OSError as error:
            raise DataFolderError(in_words(error, self._folder.root)) from error

    def release(self) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _take(self) -> int:
        """Lock the file that bears the name now: one that was replaced meanwhile protects nothing."""
        while True:
            descriptor = os.open(self._folder.lock, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                self._lock(descriptor)
                if self._still_named(descriptor):
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = _owner(descriptor)
            raise FolderInUse(self._folder.root, owner, has_page=_has_page(self._folder, owner)) from None

    def _still_named(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._folder.lock.stat())
        except FileNotFoundError:
            return False


class Turn:
    """One at a time among all threads and processes that take turns on ``place``, a folder or a file that is there."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Wait for the turn. Raises ``OSError`` where the place cannot be opened."""
        self._take(fcntl.LOCK_EX)

    def try_acquire(self) -> bool:
        """Whether it is ours now; without waiting. Raises as ``acquire``."""
        try:
            self._take(fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _take(self, how: int) -> None:
        descriptor = os.open(self._place, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, how)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor


def _has_page(folder: DataFolder, owner: int | None) -> bool:
    """Whether the owner has left the note of a server that is ready; one of another process says nothing."""
    try:
        return owner is not None and bool(json.loads(folder.server.read_bytes())["pid"] == owner)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _owner(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None
