"""The output of a job on disk: bytes as they came, in files named by where they begin, of which the newest stay.

Written by the job's supervisor, read by the app. Knows nothing but the standard library.
"""

from __future__ import annotations

import os
from pathlib import Path

from app.hands.limits import JOB_SEGMENT

_KEPT = 2
_PREFIX = "output."


class JobLog:
    """The writer: one for each job, in its supervisor."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._end = 0
        self._start = 0
        self._descriptor = self._open(0)

    def add(self, data: bytes) -> None:
        """A disk that is full loses the output and not the job."""
        try:
            if self._end - self._start >= JOB_SEGMENT:
                self._next()
            self._end += os.write(self._descriptor, data)
        except OSError:
            pass

    def _next(self) -> None:
        os.close(self._descriptor)
        self._start = self._end
        self._descriptor = self._open(self._end)
        for _, old in segments(self._folder)[:-_KEPT]:
            old.unlink(missing_ok=True)

    def _open(self, start: int) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        return os.open(self._folder / f"{_PREFIX}{start}", flags, 0o600)


def segments(folder: Path) -> list[tuple[int, Path]]:
    """Where each file that is kept begins, in order."""
    named = ((path.name.removeprefix(_PREFIX), path) for path in folder.glob(f"{_PREFIX}*"))
    return sorted((int(start), path) for start, path in named if start.isdigit())


def stretch(folder: Path) -> tuple[int, int]:
    """From which byte on the output is kept, and to which it goes."""
    kept = segments(folder)
    return (kept[0][0], kept[-1][0] + kept[-1][1].stat().st_size) if kept else (0, 0)


def read(folder: Path, start: int, end: int) -> bytes:
    """What is kept between the two bytes."""
    pieces = []
    for begins, path in segments(folder):
        with path.open("rb") as file:
            file.seek(max(0, start - begins))
            pieces.append(file.read(max(0, end - max(start, begins))))
    return b"".join(pieces)
