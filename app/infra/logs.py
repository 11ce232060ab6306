"""The log: what happened, how long it took, what class of error it was. Never a prompt, a key or a word of a model.

The formatter enforces it: of a record of ours it writes the event's name and its fields, where a text that is not
an identifier becomes its length; of a record of a library only its name and level; of an exception the classes
and the places in code, never its message.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

from app.infra.clock import iso
from app.infra.redaction import Redactor

Field = str | int | float | bool | None

_NAMES = frozenset(
    {
        "area",
        "conversation",
        "kind",
        "member",
        "message",
        "model",
        "outcome",
        "provider",
        "reason",
        "reference",
        "route",
        "session",
        "status",
        "tool",
        "turn",
        "version",
    }
)
"""Fields that may hold a word: ids and names of ours. Any other text is written as its length."""

_WORD = re.compile(r"[\w./:{}-]{1,80}", re.ASCII)
_EVENT = re.compile(r"[a-z]+(?:[_.][a-z]+)*")
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_MEGABYTE = 1_000_000

_log = logging.getLogger("plancia")


def note(event: str, **fields: Field) -> None:
    """Write one metric: ``note("turn_ended", turn=…, duration_ms=…)``."""
    _log.info(event, extra={"fields": fields})


def failure(event: str, error: BaseException, **fields: Field) -> str:
    """Write the classes of ``error`` and where it came from; returns the reference id that stands beside it."""
    reference = reference_id()
    _log.error(event, extra={"fields": {"reference": reference, **fields}}, exc_info=error)
    return reference


def reference_id() -> str:
    """Short enough to read aloud, for an error page and the line of the log that belongs to it."""
    return "R-" + "".join(secrets.choice(_ALPHABET) for _ in range(8))


@contextmanager
def logging_to(folder: Path, *, size: int = _MEGABYTE, kept: int = 3) -> Iterator[None]:
    """While the block runs, log to ``folder``/plancia.log: files of ``size`` bytes, ``kept`` older ones."""
    handler = _PrivateFile(
        folder / "plancia.log", maxBytes=size, backupCount=kept, encoding="utf-8", delay=True
    )
    handler.setFormatter(_Formatter())
    root, level = logging.getLogger(), _log.level
    root.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        _log.setLevel(level)
        with suppress(OSError):  # what a full disk has not taken of it by now
            handler.close()


class _PrivateFile(RotatingFileHandler):
    """Readable by the user alone; a full disk costs lines of the log and nothing else."""

    def _open(self) -> IO[str]:  # type: ignore[override]  # any text file does
        return open(self.baseFilename, self.mode, encoding=self.encoding, opener=_opener)

    def handleError(self, record: logging.LogRecord) -> None:
        pass


class _Formatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__()
        self._redactor = Redactor()

    def format(self, record: logging.LogRecord) -> str:
        moment = iso(datetime.fromtimestamp(record.created, UTC))
        parts = [moment, record.levelname.lower(), self._event(record)]
        parts += [
            f"{name}={self._value(name, value)}" for name, value in getattr(record, "fields", {}).items()
        ]
        if record.exc_info and record.exc_info[1] is not None:
            parts += [f"error={_classes(record.exc_info[1])}", f"at={_places(record.exc_info[1])}"]
        return " ".join(parts)

    def _event(self, record: logging.LogRecord) -> str:
        ours = record.name == _log.name and _EVENT.fullmatch(str(record.msg))
        return str(record.msg) if ours else f"library={record.name}"

    def _value(self, name: str, value: Field) -> str:
        match value:
            case None | bool() | int() | float():
                return str(value).lower()
            case str() if name in _NAMES and _WORD.fullmatch(value):
                return self._redactor.redact(value)
            case _:
                return f"<{len(value)} characters>"


def _classes(error: BaseException) -> str:
    """The class and, behind it, those of its causes."""
    names: list[str] = []
    current: BaseException | None = error
    while current is not None and len(names) < 8:
        names.append(type(current).__name__)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "<-".join(names)


def _places(error: BaseException) -> str:
    """File and line of each frame, innermost first, without anything that was in them."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return (
        ",".join(f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}" for frame in reversed(frames))
        or "-"
    )


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
