"""Lines of JSON from raw bytes: feed it what the network brings, take each finished line."""

from __future__ import annotations

from app.providers.errors import StreamUnreadable
from app.providers.sse import MAX_EVENT


class LineReader:
    """Keeps what is not finished yet. Blank lines are left out."""

    skipped = False
    """Anything may stand in a line: whether it is JSON is for others to say."""

    def __init__(self, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._tail: list[bytes] = []
        self._tail_size = 0
        self.found = False
        """At least one line was finished."""

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece finished. Raises ``StreamUnreadable`` for one that grows beyond the limit."""
        *lines, rest = piece.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._tail, lines[0]])
            self._tail, self._tail_size = [], 0
        self._tail.append(rest)
        self._tail_size += len(rest)
        if max(self._tail_size, *map(len, lines), 0) > self._limit:
            raise StreamUnreadable(f"one line has more than {self._limit} bytes")
        return self._kept(lines)

    def finish(self) -> list[bytes]:
        """The last line, where the server left out its end."""
        tail, self._tail, self._tail_size = self._tail, [], 0
        return self._kept([b"".join(tail)])

    def _kept(self, lines: list[bytes]) -> list[bytes]:
        kept = [line for line in lines if line.strip()]
        self.found = self.found or bool(kept)
        return kept
