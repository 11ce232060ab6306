"""What a run has read, so that it changes nothing it has not seen; and one writer at a time for each file."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

SHOWN_HASH = 16
"""Digits of a content hash that a model is shown, and must give at least half of."""


class ReadLedger:
    """The files one run has read, each with the hash of what it read; shared by the tools of that run."""

    def __init__(self) -> None:
        self._hashes: dict[Path, str] = {}

    def note(self, path: Path, content_hash: str) -> None:
        """The run knows this content of the resolved ``path``: it read it or wrote it."""
        self._hashes[path] = content_hash

    def forget(self, path: Path) -> None:
        """The run knows that nothing is there any more."""
        self._hashes.pop(path, None)

    def find(self, path: Path) -> str | None:
        return self._hashes.get(path)


def content_hash(data: bytes) -> str:
    """SHA-256 of a whole file, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


_LOCKS = tuple(threading.Lock() for _ in range(64))


def write_lock(path: Path) -> threading.Lock:
    """The lock under which a file is compared and replaced; the same one for every run of this process."""
    return _LOCKS[hash(str(path).casefold()) % len(_LOCKS)]
