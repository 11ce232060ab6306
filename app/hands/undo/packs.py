"""Contents by their digest, in files that are written once: each is there whole or not at all.

A pack is its pieces one after the other, then a table of them, then the table's length and digest. A name in the
folder is a pack whose every byte is on the disk; a file that was being written when the process died has no such
name and is removed when the next one is begun. A pack that was damaged since counts as none, so that what it held is
kept anew.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
import zlib
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import msgspec

from app.hands.errors import SnapshotTrouble
from app.infra.files import SYSTEM_DISK, Disk, sync_folder

SUFFIX = ".pack"
_UNFINISHED = ".writing"
_TAIL = struct.Struct(">Q16s")
_SAMPLE = 65_536
_PIECE = 1 << 20

Table = list[tuple[bytes, int, int]]
"""Digest, offset and length of each piece."""

_TABLE = msgspec.msgpack.Decoder(Table)


def digest_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()


@dataclass(frozen=True, slots=True)
class _Place:
    pack: str
    offset: int
    length: int


class Packs:
    """The packs of one folder. Whoever writes or removes one holds the folder's turn."""

    def __init__(self, folder: Path, disk: Disk = SYSTEM_DISK) -> None:
        self.folder = folder
        self.disk = disk
        self._tables: dict[str, tuple[tuple[int, int], Table]] = {}
        self._places: dict[bytes, _Place] = {}

    def refresh(self) -> None:
        """Take note of what other processes added and removed. Raises ``OSError``."""
        with os.scandir(self.folder) as entries:
            there = {entry.name: entry.stat() for entry in entries if entry.name.endswith(SUFFIX)}
        stamps = {name: (status.st_ino, status.st_mtime_ns) for name, status in there.items()}
        known = {name: stamp for name, (stamp, _) in self._tables.items()}
        if known != stamps:
            same = {name: kept for name, kept in self._tables.items() if stamps.get(name) == kept[0]}
            for name in stamps.keys() - same.keys():
                same[name] = (stamps[name], _read_table(self.folder / name))
            self._tables = same
            self._places = {
                digest: _Place(name, offset, length)
                for name, (_, table) in same.items()
                for digest, offset, length in table
            }

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._places

    def read(self, digest: bytes) -> bytes:
        """The content of that digest. Raises ``SnapshotTrouble`` where it is gone or damaged."""
        place = self._places.get(digest)
        try:
            data = _unpacked(_cut_out(self.folder, place)) if place else None
        except (OSError, zlib.error):
            data = None
        if data is None or digest_of(data) != digest:
            raise SnapshotTrouble(
                "What it was before cannot be brought back: its content has been given up for newer ones, or "
                f"is damaged. Undo something later, or look for it in a backup. It was kept in {self.folder}."
            )
        return data

    def length(self, digest: bytes) -> int:
        """Bytes it takes on the disk; 0 for what is not there."""
        place = self._places.get(digest)
        return place.length if place else 0

    def keep_only(self, live: Set[bytes], *, slack: float) -> None:
        """Remove what is not ``live``; a pack of which less than the ``slack`` part is dead stays as it is."""
        weights = {name: _weight(table) for name, (_, table) in self._tables.items()}
        held = {name: self._held(name, live) for name in self._tables}
        for name in [name for name, table in held.items() if not table]:
            (self.folder / name).unlink(missing_ok=True)
        for name, table in held.items():
            if table and weights[name] - _weight(table) > slack * weights[name]:
                self._rewrite(name, table)
        self.refresh()

    def _held(self, name: str, live: Set[bytes]) -> Table:
        """What of a pack is live and is read from it and no other."""
        return [row for row in self._tables[name][1] if row[0] in live and self._places[row[0]].pack == name]

    def _rewrite(self, name: str, held: Table) -> None:
        with PackWriter(self, name) as writer:
            for digest, offset, length in held:
                writer.copy(digest, _cut_out(self.folder, _Place(name, offset, length)))
            writer.finish()


@dataclass(slots=True)
class PackWriter:
    """A pack in the making; without ``finish`` nothing of it stays."""

    packs: Packs
    name: str
    _table: Table = field(default_factory=list)
    _new: set[bytes] = field(default_factory=set)
    _size: int = 0
    _open: tuple[int, Path] | None = None

    def __enter__(self) -> PackWriter:
        for litter in self.packs.folder.glob(f"*{_UNFINISHED}"):
            litter.unlink(missing_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open:
            descriptor, path = self._open
            os.close(descriptor)
            path.unlink(missing_ok=True)

    def put(self, data: bytes) -> bytes:
        """Keep a content, unless it is kept already; its digest. Raises ``OSError``."""
        digest = digest_of(data)
        if digest not in self.packs and digest not in self._new:
            self.copy(digest, _packed(data))
        return digest

    def copy(self, digest: bytes, packed: bytes) -> None:
        """Add a content in the form in which a pack holds it."""
        self._table.append((digest, self._size, len(packed)))
        self._new.add(digest)
        self._write(packed)

    def finish(self) -> None:
        """Make the pack durable and give it its name. Raises ``OSError``; then there is none."""
        if self._table:
            table = zlib.compress(msgspec.msgpack.encode(self._table), 1)
            self._write(table + _TAIL.pack(len(table), digest_of(table)[:16]))
            assert self._open is not None
            descriptor, path = self._open
            self.packs.disk.sync(descriptor)
            self.packs.disk.replace(path, self.packs.folder / self.name)
            sync_folder(self.packs.folder, self.packs.disk)
            self.packs.refresh()

    def _write(self, data: bytes) -> None:
        if self._open is None:
            path = self.packs.folder / f"{secrets.token_hex(8)}{_UNFINISHED}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._open = (self.packs.disk.open(path, flags, 0o600), path)
        rest = memoryview(data)
        while rest:
            written = self.packs.disk.write(self._open[0], bytes(rest[:_PIECE]))
            rest, self._size = rest[written:], self._size + written


def _packed(data: bytes) -> bytes:
    """With a first byte that says how: compressed where a sample of it becomes smaller by a tenth."""
    sample = data[:_SAMPLE]
    if len(zlib.compress(sample, 1)) < len(sample) * 0.9:
        return b"z" + zlib.compress(data, 1)
    return b"r" + data


def _unpacked(packed: bytes) -> bytes:
    return zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed[1:]


def _cut_out(folder: Path, place: _Place) -> bytes:
    with (folder / place.pack).open("rb", buffering=0) as file:
        file.seek(place.offset)
        return b"".join(_pieces(file.fileno(), place.length))


def _pieces(descriptor: int, length: int) -> Iterator[bytes]:
    while length and (piece := os.read(descriptor, min(length, _PIECE))):
        yield piece
        length -= len(piece)


def _read_table(path: Path) -> Table:
    """Empty for what is no whole pack."""
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL.size, os.SEEK_END)
            length, digest = _TAIL.unpack(file.read())
            file.seek(-_TAIL.size - length, os.SEEK_END)
            table = file.read(length)
        return _TABLE.decode(zlib.decompress(table)) if digest_of(table)[:16] == digest else []
    except (OSError, struct.error, zlib.error, msgspec.DecodeError):
        return []


def _weight(table: Table) -> int:
    return sum(length for _, _, length in table)


def size_of(files: Iterable[Path]) -> int:
    """Bytes of all of them that are there."""
    total = 0
    for path in files:
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            pass  # removed since it was listed
    return total
