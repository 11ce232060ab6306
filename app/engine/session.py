"""Where one member's history lives. ``Session`` is the seam; this file has its two homes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from app.engine.errors import SessionError
from app.engine.messages import Message
from app.engine.pairing import Mutating, fits, heal, is_mutating
from app.engine.transcript import encode, storable
from app.engine.transcript_file import Mark, explain, read_started, read_transcript
from app.infra.files import SYSTEM_DISK, Disk, append_lines, set_tail_aside
from app.infra.threads import to_the_end

SYNC_EVERY = 1.0
"""Seconds; an append this long after the last sync comes with one, asked for or not."""


class Session(Protocol):
    """One history as its model sees it: always paired, in declared order."""

    @property
    def id(self) -> str: ...

    @property
    def messages(self) -> Sequence[Message]:
        """The whole history; calls and results stand as ``pairing`` demands, except at an open last step."""
        ...

    async def append(self, *messages: Message, sync: bool = True) -> None:
        """Store at the end, durably and all together, before returning.

        Without ``sync`` a power cut may still take what the last second brought; the end of the process does not.
        Raises ``SessionError``; then nothing was added.
        """
        ...

    async def mark_started(self, call_id: str) -> None:
        """Journal, durably, that a mutating call is about to run: without a result it becomes "outcome unknown"."""
        ...


class MemorySession:
    """A history that is gone with its process: for tests and throw-away runs."""

    def __init__(self, id: str, *, mutating: Mutating = is_mutating) -> None:
        self._id = id
        self._mutating = mutating
        self._given: list[Message] = []
        """As it was appended; what a late result means shows only there."""
        self._history: list[Message] = []
        """The same, paired."""
        self._told: tuple[Message, ...] | None = ()
        """The same, as it is told; None after a change. Who looks twice sees one value."""
        self._started: dict[str, str] = {}

    @property
    def id(self) -> str:
        return self._id

    @property
    def messages(self) -> tuple[Message, ...]:
        if self._told is None:
            self._told = tuple(self._history)
        return self._told

    async def append(self, *messages: Message, sync: bool = True) -> None:
        self._take(messages)

    async def mark_started(self, call_id: str) -> None:
        self._note_started(call_id)

    def _take(self, messages: Sequence[Message]) -> None:
        """Add to the history; what does not fit its end is put where ``pairing`` wants it."""
        self._told = None
        for message in messages:
            self._given.append(message)
            if fits(self._history, message):
                self._history.append(message)
            else:
                self._heal(open_end=True)

    def _heal(self, *, open_end: bool = False) -> tuple[Message, ...]:
        """Pair all that was given; return the messages that had to be made up."""
        asker = (
            {call.id: message.id for message in self._given for call in message.calls}
            if self._started
            else {}
        )
        # Where a provider counts its ids anew in every turn, an old entry must not make a new call look begun.
        begun = [call_id for call_id, by in self._started.items() if not by or asker.get(call_id, by) == by]
        healed = heal(self._given, started=begun, mutating=self._mutating, open_end=open_end)
        self._history, self._told = list(healed.messages), None
        return healed.added

    def _note_started(self, call_id: str) -> None:
        self._started[call_id] = self._asker(call_id)

    def _asker(self, call_id: str) -> str:
        """The id of the last message with this call, empty where there is none."""
        asking = (m.id for m in reversed(self._history) if any(call.id == call_id for call in m.calls))
        return next(asking, "")


class JsonlSession(MemorySession):
    """A history in a file, one message per line, which is only ever added to.

    What a repair made up is in memory alone until the next append writes it. Bytes of a torn last line are moved
    into a file beside it. Calls are journalled in a second file, ``ID.started``.
    """

    def __init__(
        self,
        path: Path,
        *,
        mutating: Mutating = is_mutating,
        disk: Disk = SYSTEM_DISK,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(path.stem, mutating=mutating)
        self._path = path
        self._journal = path.with_suffix(".started")
        self._disk = disk
        self._monotonic = monotonic
        self._synced_at = monotonic()
        self._lock = asyncio.Lock()
        self._size = self._seq = 0
        self._torn = False
        """Whether something may stand behind ``_size`` that is no part of the history."""
        self._unwritten: tuple[Message, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        """One for each line that could not be read."""

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        mutating: Mutating = is_mutating,
        disk: Disk = SYSTEM_DISK,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> JsonlSession:
        """Read a session and repair it in memory; a missing file is an empty session. Raises ``SessionError``."""
        session = cls(path, mutating=mutating, disk=disk, monotonic=monotonic)
        await session._read()
        return session

    async def append(self, *messages: Message, sync: bool = True) -> None:
        if not messages:
            return
        async with self._lock:
            lines, stored = self._encode((*self._unwritten, *messages))
            if sync or self._monotonic() - self._synced_at >= SYNC_EVERY:
                await to_the_end(partial(self._write, lines), then=partial(self._wrote, stored))
                self._synced_at = self._monotonic()
            else:  # a write without sync is over sooner than a thread would have begun
                self._wrote(stored, self._write(lines, sync=False))

    async def mark_started(self, call_id: str) -> None:
        line = json.dumps([self._asker(call_id), call_id]).encode() + b"\n"
        async with self._lock:
            await to_the_end(partial(self._write_journal, line), then=lambda _: self._note_started(call_id))

    async def _read(self) -> None:
        transcript = await read_transcript(self._path)
        self._started = read_started(self._journal)
        self._size, self._seq, self._torn = transcript.size, transcript.seq, transcript.torn > 0
        self.marks = tuple(transcript.marks)
        self._given = transcript.messages
        self._unwritten = self._heal()
        if self._torn:
            try:
                await to_the_end(self._set_torn_aside)
            except OSError:
                pass  # reading goes on; the next append tries again, and fails in words

    def _encode(self, messages: Sequence[Message]) -> tuple[bytes, Sequence[Message]]:
        """The lines, and the messages as they can be stored."""
        try:
            try:
                return self._lines(messages), messages
            except UnicodeEncodeError:
                messages = [storable(message) for message in messages]
                return self._lines(messages), messages
        except (TypeError, ValueError, RecursionError) as error:
            raise SessionError(f"A message cannot be stored, as it is no JSON: {error}.") from error

    def _lines(self, messages: Sequence[Message]) -> bytes:
        return b"".join(encode(message, seq) for seq, message in enumerate(messages, self._seq + 1))

    def _write(self, lines: bytes, *, sync: bool = True) -> int:
        try:
            self._set_torn_aside()
            return append_lines(self._path, lines, size=self._size, sync=sync, disk=self._disk)
        except OSError as error:
            self._torn = True  # the disk may have refused to take back what it had written, too
            raise explain(self._path, "written", error) from error

    def _wrote(self, messages: Sequence[Message], size: int) -> None:
        self._size = size
        self._seq += len(messages)
        made_up, self._unwritten = len(self._unwritten), ()
        self._given += messages[:made_up]
        self._take(messages[made_up:])

    def _write_journal(self, line: bytes) -> None:
        try:
            append_lines(self._journal, line, size=0, disk=self._disk)
        except OSError as error:
            raise explain(self._journal, "written", error) from error

    def _set_torn_aside(self) -> None:
        if self._torn and self._path.exists() and self._path.stat().st_size > self._size:
            set_tail_aside(self._path, self._size, self._disk)
        self._torn = False
