"""A transcript on disk: what its lines say, which of them say nothing, and whether its end is torn.

Reading changes nothing. A line that cannot be read stays in the file and becomes a ``Mark``.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.engine.errors import SessionError
from app.engine.messages import Message
from app.engine.transcript import Unreadable, decode, decode_all
from app.infra.files import FileShrunk

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r"


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that could not be read. ``after`` is the id of the message before it."""

    line: int
    size: int
    after: str | None

    def __str__(self) -> str:
        return (
            f"Line {self.line} of this transcript ({self.size} bytes) cannot be read and was left out. "
            "It is still in the file."
        )


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was read. ``size`` counts the bytes of whole lines, ``torn`` those after them that are no line."""

    messages: tuple[Message, ...] = ()
    seq: int = 0
    """The highest ``seq`` in the file."""
    size: int = 0
    torn: int = 0
    marks: tuple[Mark, ...] = ()


def read_transcript(path: Path) -> Transcript:
    """Read a transcript; a missing one is empty. Raises ``SessionError``."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Transcript()
    except OSError as error:
        raise explain(path, "read", error) from error
    start = len(_BOM) if data.startswith(_BOM) else 0
    end = max(start, data.rfind(b"\n") + 1)
    messages, marks = _read_lines(data[start:end])
    torn = 0
    if tail := data[end:].strip(_BLANK):
        try:
            messages.append(decode(tail))
        except Unreadable:
            torn = len(data) - end
    return Transcript(
        messages=tuple(message for _, message in messages),
        seq=max((seq for seq, _ in messages), default=0),
        size=len(data) - torn,
        torn=torn,
        marks=tuple(marks),
    )


def read_started(path: Path) -> dict[str, str]:
    """The journal of begun calls: call id → id of the message that asked for it. Raises ``SessionError``.

    A torn entry is passed over: its call was never begun, as it is begun only once its entry is whole.
    """
    try:
        return dict(_entries(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise explain(path, "read", error) from error


def _read_lines(data: bytes) -> tuple[list[tuple[int, Message]], list[Mark]]:
    try:
        return decode_all(data), []
    except Unreadable:
        pass
    messages: list[tuple[int, Message]] = []
    marks: list[Mark] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip(_BLANK):
                messages.append(decode(line))
        except Unreadable:
            marks.append(Mark(number, len(line), messages[-1][1].id if messages else None))
    return messages, marks


def _entries(data: bytes) -> Iterator[tuple[str, str]]:
    for line in data.split(b"\n"):
        try:
            message_id, call_id = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        yield str(call_id), str(message_id)


def explain(path: Path, doing: str, error: OSError) -> SessionError:
    """Say in words why the transcript cannot be read or written, and what to do."""
    match error.errno:
        case _ if isinstance(error, FileShrunk):
            reason = (
                "it was shortened or removed by another program. Restart Plancia to go on from what is left"
            )
        case errno.ENOSPC | errno.EDQUOT:
            reason = "the disk is full. Free some space and try again"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            reason = "Plancia may not do that there. Give it the right to and try again"
        case errno.ENOENT | errno.ENOTDIR | errno.ESTALE:
            reason = "its folder or the file itself is gone. Put it back, or restart Plancia"
        case errno.EISDIR:
            reason = "there is a folder of that name. Move it away and try again"
        case _:
            reason = f"the disk reports: {error.strerror or error}. Check the disk and try again"
    return SessionError(f"The transcript {path.name} cannot be {doing}: {reason}.")
