"""What the last look found, with stamps: a file whose stamp is the same need not be read again.

A stamp is believed only if it was old when it was taken: in the moment in which a file is written it may be written
once more without its stamp showing it. Losing this file costs time and nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from app.hands.undo.scan import Stamp
from app.hands.undo.values import Entry
from app.infra.files import Disk, write_atomic

BELIEVED_AFTER_NS = 2_000_000_000
"""The coarsest clock of a file system that is in use."""


class Known(Struct, frozen=True, array_like=True, gc=False):
    entry: Entry
    stamp: Stamp | None = None
    is_old: bool = False
    """Whether the stamp may be believed."""


class Memory(Struct, array_like=True):
    tree: bytes = b""
    """Digest of the root that these paths make up; empty for nothing."""
    known: dict[str, Known] = {}

    def contents(self) -> dict[str, Entry]:
        return {path: each.entry for path, each in self.known.items()}


class _Stored(Struct, array_like=True):
    tree: bytes
    known: list[tuple[bytes, Known]]


_DECODER = msgspec.msgpack.Decoder(_Stored)


def load_memory(path: Path) -> Memory:
    """An empty one where nothing is stored, or nothing that can be read."""
    try:
        stored = _DECODER.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return Memory()
    return Memory(stored.tree, {os.fsdecode(name): known for name, known in stored.known})


def store_memory(path: Path, memory: Memory, disk: Disk) -> None:
    """Raises ``OSError``."""
    rows = [(os.fsencode(name), known) for name, known in memory.known.items()]
    write_atomic(path, msgspec.msgpack.encode(_Stored(memory.tree, rows)), disk=disk)
