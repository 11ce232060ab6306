"""Files that are whole or absent, and files that only grow: durable before a call returns.

All that changes the disk goes through a ``Disk``, so that a test can stop before any one of its calls.
"""

from __future__ import annotations

import os
import secrets
import zlib
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """The system calls that change a disk. Each raises ``OSError``."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        """Open, perhaps create, and return a descriptor."""
        ...

    def write(self, descriptor: int, data: bytes) -> int:
        """Write at most all of ``data`` and return how many bytes."""
        ...

    def sync(self, descriptor: int) -> None:
        """Return when what was written to this file, or named in this folder, survives a power cut."""
        ...

    def truncate(self, descriptor: int, size: int) -> None: ...

    def replace(self, source: Path, target: Path) -> None: ...


class SystemDisk:
    """The machine's own disk."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode)

    def write(self, descriptor: int, data: bytes) -> int:
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)


SYSTEM_DISK = SystemDisk()


class FileShrunk(OSError):
    """The file is shorter than what was already stored in it: somebody else has changed or removed it."""


def write_atomic(path: Path, data: bytes, mode: int = 0o600, disk: Disk = SYSTEM_DISK) -> None:
    """Replace ``path`` by ``data`` durably. After a crash at any moment it holds the old bytes or the new ones.

    Raises ``OSError``; then the old file is untouched, unless all that failed was making the new one survive a power
    cut, and no temporary file is left.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    descriptor = disk.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            os.fchmod(descriptor, mode)
            _write_all(descriptor, data, disk)
            disk.sync(descriptor)
        finally:
            os.close(descriptor)
        disk.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent, disk)


def append_lines(path: Path, data: bytes, *, size: int, sync: bool = True, disk: Disk = SYSTEM_DISK) -> int:
    """Add whole lines to the end of a file that holds ``size`` bytes of ours; return its new length.

    With ``size`` 0 the file is created where it is missing. A last line that lacks its newline gets one first.
    Without ``sync`` the lines survive the end of the process, but a power cut only after the next append with it.
    Raises ``OSError``, ``FileShrunk`` among them; then the file is as long as before, unless the disk refuses
    even that.
    """
    created = os.O_CREAT if size == 0 else 0
    descriptor = disk.open(path, os.O_RDWR | os.O_APPEND | created)
    try:
        length = os.fstat(descriptor).st_size
        if length < size:
            raise FileShrunk(None, "it has been shortened by another program", str(path))
        if length and os.pread(descriptor, 1, length - 1) != b"\n":
            data = b"\n" + data
        try:
            _write_all(descriptor, data, disk)
            if sync:
                disk.sync(descriptor)
            if not length:
                sync_folder(path.parent, disk)
        except OSError:
            _take_back(descriptor, length, disk)
            raise
    finally:
        os.close(descriptor)
    return length + len(data)


def set_tail_aside(path: Path, start: int, disk: Disk = SYSTEM_DISK) -> Path:
    """Move what stands in the file from byte ``start`` on into a file of its own beside it; return that file.

    The copy is durable before the original is cut; doing it again after a crash does no harm.
    """
    tail = path.read_bytes()[start:]
    aside = path.with_name(f"{path.name}.torn-{start}-{zlib.crc32(tail):08x}")
    write_atomic(aside, tail, disk=disk)
    descriptor = disk.open(path, os.O_RDWR)
    try:
        disk.truncate(descriptor, start)
        disk.sync(descriptor)
    finally:
        os.close(descriptor)
    return aside


def sync_folder(folder: Path, disk: Disk = SYSTEM_DISK) -> None:
    """Make a rename or a new name in ``folder`` survive a power cut."""
    descriptor = disk.open(folder, os.O_RDONLY)
    try:
        disk.sync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes, disk: Disk) -> None:
    written = disk.write(descriptor, data)
    while written < len(data):
        written += disk.write(descriptor, data[written:])


def _take_back(descriptor: int, length: int, disk: Disk) -> None:
    try:
        disk.truncate(descriptor, length)
    except OSError:
        pass  # what was added is not acknowledged, and a reader sets loose bytes aside
