"""Disks that really write, until the power goes or a call fails."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection
from errno import ENOSPC
from pathlib import Path
from typing import Literal

from app.infra.files import SystemDisk

Fate = Literal["kept", "lost", "torn"]
"""What becomes of calls that no ``sync`` has confirmed: all on disk, none, or also half of the last write."""


class PowerCut(Exception):
    """The process is gone; nothing it does from here on reaches the disk."""


class CountingDisk(SystemDisk):
    """Counts its calls, and knows how to undo those that are not synced yet; syncing costs it nothing."""

    def __init__(self) -> None:
        self.calls = 0
        self._paths: dict[int, Path] = {}
        self._unsynced: list[tuple[Path, Callable[[], object]]] = []

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self._reach()
        if flags & os.O_CREAT and not path.exists():
            self._unsynced.append((path.parent, lambda: path.unlink(missing_ok=True)))
        descriptor = super().open(path, flags, mode)
        self._paths[descriptor] = path
        return descriptor

    def write(self, descriptor: int, data: bytes) -> int:
        path, before = self._paths[descriptor], os.fstat(descriptor).st_size
        self._reach(lambda: super(CountingDisk, self).write(descriptor, data[: len(data) // 2]))
        self._unsynced.append((path, lambda: _restore(path, path.read_bytes()[:before])))
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._reach()
        path = self._paths[descriptor]
        self._unsynced = [(synced_by, undo) for synced_by, undo in self._unsynced if synced_by != path]

    def truncate(self, descriptor: int, size: int) -> None:
        self._reach()
        path = self._paths[descriptor]
        before = path.read_bytes()
        self._unsynced.append((path, lambda: _restore(path, before)))
        super().truncate(descriptor, size)

    def replace(self, source: Path, target: Path) -> None:
        self._reach()
        before = target.read_bytes() if target.exists() else None
        self._unsynced.append((target.parent, lambda: _restore(target, before)))
        super().replace(source, target)

    def _reach(self, half: Callable[[], object] = lambda: None) -> None:
        """A call begins; ``half`` does it by half."""
        self.calls += 1


class CuttableDisk(CountingDisk):
    """Stops before its call number ``cut``, counted from 1."""

    def __init__(self, cut: int, fate: Fate) -> None:
        super().__init__()
        self._cut = cut
        self._fate = fate

    def _reach(self, half: Callable[[], object] = lambda: None) -> None:
        super()._reach()
        if self.calls == self._cut and self._fate == "torn":
            half()
        if self.calls == self._cut and self._fate == "lost":
            for _, undo in reversed(self._unsynced):
                undo()
        if self.calls >= self._cut:
            raise PowerCut


class HeldDisk(CountingDisk):
    """Keeps every ``sync`` waiting until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.syncing = threading.Event()
        self.release = threading.Event()

    def sync(self, descriptor: int) -> None:
        self.syncing.set()
        if not self.release.wait(10):
            raise AssertionError("nobody released the disk")
        super().sync(descriptor)


class FaultyDisk(CountingDisk):
    """Fails in the calls whose numbers it is given, counted from 1; a write fails when half of it is done."""

    def __init__(self, *failing: int, error: int = ENOSPC) -> None:
        super().__init__()
        self.failing: Collection[int] = failing
        self._error = error

    def _reach(self, half: Callable[[], object] = lambda: None) -> None:
        super()._reach()
        if self.calls in self.failing:
            half()
            raise OSError(self._error, os.strerror(self._error))


def _restore(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    elif path.exists():
        path.write_bytes(data)
