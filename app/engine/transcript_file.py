"""A transcript on disk: what its lines say, which of them say nothing, and whether its end is torn.

Reading changes nothing. A line that cannot be read stays in the file and becomes a ``Mark``.
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from os import SEEK_END
from pathlib import Path

from app.engine.errors import SessionError
from app.engine.messages import Message
from app.engine.transcript import Unreadable, decode, decode_all
from app.infra.collector import uncollected
from app.infra.files import FileShrunk

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r"
_NEWLINE = 0x0A
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that could not be read: where its first byte stands, its length in bytes, its number in the file.

    ``after`` is the id of the message before it.
    """

    start: int
    size: int
    after: str | None
    line: int = 0

    def __str__(self) -> str:
        return (
            f"Line {self.line} of this transcript ({self.size} bytes) cannot be read and was left out. "
            "It is still in the file."
        )


@dataclass(slots=True)
class Transcript:
    """What was read so far, and in the end all that there is."""

    messages: list[Message] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    seq: int = 0
    """The highest ``seq`` in the file."""
    size: int = 0
    """Bytes up to the end of the last line."""
    torn: int = 0
    """Bytes after them that are no line."""

    def take(self, block: memoryview) -> None:
        """Read a block of whole lines."""
        try:
            self._add(*decode_all(block))
        except Unreadable:
            self._take_each(bytes(block))
        self.size += len(block)

    def take_tail(self, tail: bytes) -> None:
        """Read what stands after the last newline: nothing, a line that only lacks its end, or a torn one."""
        if self._take_line(tail):
            self.size += len(tail)
        else:
            self.torn = len(tail)

    def _take_each(self, block: bytes) -> None:
        start = self.size
        for line in block.split(b"\n"):
            if not self._take_line(line):
                self.marks.append(Mark(start, len(line), self.messages[-1].id if self.messages else None))
            start += len(line) + 1

    def _take_line(self, line: bytes) -> bool:
        text = line.strip(_BLANK).removeprefix(_BOM)
        try:
            if text:
                message, seq = decode(text)
                self._add([message], seq)
        except Unreadable:
            return False
        return True

    def _add(self, messages: list[Message], seq: int) -> None:
        self.messages += messages
        self.seq = max(self.seq, seq)


async def read_transcript(path: Path) -> Transcript:
    """Read a transcript; a missing one is empty. Other tasks have their turn after every block.

    Raises ``SessionError``.
    """
    transcript = Transcript()
    try:
        for block in _blocks(path):
            with uncollected():
                if block[-1] == _NEWLINE:
                    transcript.take(block)
                else:
                    transcript.take_tail(bytes(block))
            await asyncio.sleep(0)
        transcript.messages = _each_once(transcript.messages)
        if transcript.marks:
            transcript.marks = list(_numbered(transcript.marks, path.read_bytes()))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise explain(path, "read", error) from error
    return transcript


def _each_once(messages: list[Message]) -> list[Message]:
    """A line that stands there twice counts once; of results ``pairing`` knows better which one counts."""
    if len({message.id for message in messages}) == len(messages):
        return messages
    known: dict[str, Message] = {}
    for message in messages:
        known.setdefault(message.id, message)
    return [one for one in messages if one is known[one.id] or one != known[one.id] or one.role == "tool"]


def _numbered(marks: list[Mark], data: bytes) -> Iterator[Mark]:
    line, counted = 1, 0
    for mark in marks:
        line += data.count(b"\n", counted, mark.start)
        counted = mark.start
        yield replace(mark, line=line)


def _blocks(path: Path) -> Iterator[memoryview]:
    """The file in blocks of whole lines, and after them what stands behind the last newline.

    They all lie in one buffer: a block is to be read before the next one is asked for.
    """
    with path.open("rb", buffering=0) as file:
        buffer, start = bytearray(min(_BLOCK, file.seek(0, SEEK_END) + 1)), 0
        file.seek(start)
        while size := file.readinto(buffer):
            end = buffer.rfind(b"\n", 0, size) + 1
            if end:
                yield memoryview(buffer)[:end]
            elif size < len(buffer):
                yield memoryview(buffer)[:size]
                return
            else:
                buffer = bytearray(2 * size)
            start += end
            file.seek(start)


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
