"""The output of a command: in memory while it is small, on disk from there on, and of the largest both ends."""

from __future__ import annotations

from typing import TextIO

from app.engine.large_results import in_part, kept_as, lost
from app.engine.tools import ToolOutput
from app.hands.limits import LIVE_CHARACTERS, OUTPUT_BYTES, OUTPUT_ENDING, OUTPUT_WHOLE
from app.hands.results import StoredResults
from app.hands.terminal_text import Cleaner, Redact


class Spool:
    """Takes the bytes of a command, and gives what its caller and its onlookers may read of them."""

    def __init__(self, results: StoredResults, redact: Redact) -> None:
        self._results = results
        self._redact = redact
        self._cleaner = Cleaner(redact)
        self.taken = 0
        """Bytes so far."""
        self._first = ""
        """All of it while it is small, then its beginning."""
        self._last = ""
        self._length = 0
        self._file: TextIO | None = None
        self._ref = ""
        self._trouble: OSError | None = None
        self._ending = bytearray()
        """Of what comes after the bytes that are kept."""

    def add(self, piece: bytes) -> str:
        """Take what came; what there is to show of it live, with colours."""
        room = max(0, OUTPUT_BYTES - self.taken)
        self.taken += len(piece)
        if len(piece) > room:
            self._ending += piece[room:]
            del self._ending[:-OUTPUT_ENDING]
        text = self._cleaner.feed(piece[:room])
        self._keep(text.plain)
        return _live(text.coloured)

    def last(self) -> str:
        """What there is to show live when nothing more comes: a line that has no end."""
        text = self._cleaner.end()
        self._keep(text.plain)
        return _live(text.coloured)

    def end(self, most_tokens: int) -> ToolOutput:
        """All of it where it is small, else both ends and where the whole is."""
        self.last()
        dropped = self.taken - OUTPUT_BYTES - len(self._ending)
        if dropped > 0:
            self._keep(f"\n[… {dropped:,} bytes were not kept …]\n")
        if self._ending:
            rest = Cleaner(self._redact)
            self._keep(rest.feed(bytes(self._ending)).plain + rest.end().plain)
        self._close()
        if self._length == len(self._first):
            return ToolOutput(self._first)
        where = lost(self._trouble) if self._trouble else kept_as(self._ref, self._length)
        return ToolOutput(in_part(self._first, self._last, self._length, where, most_tokens), is_kept=True)

    def _keep(self, text: str) -> None:
        self._length += len(text)
        self._last = (self._last + text)[-OUTPUT_ENDING:]
        if self._length <= OUTPUT_WHOLE:
            self._first += text
        elif self._trouble is None:
            try:
                self._write(text)
            except OSError as error:
                self._trouble = error

    def _write(self, text: str) -> None:
        if self._file is None:
            text = self._first + text
            self._first = text[:OUTPUT_WHOLE]
            self._ref, self._file = self._results.begin()
        self._file.write(text)

    def _close(self) -> None:
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._trouble = self._trouble or error


def _live(text: str) -> str:
    """Of a piece that is longer than anybody reads its end."""
    return text if len(text) <= LIVE_CHARACTERS else f"[…]\n{text[-LIVE_CHARACTERS:]}"
