"""Server-sent events from raw bytes: feed it what the network brings, take the data of each finished event.

Works on bytes, so that a character cut in two needs no care, and gives back everything one read completed at once.
"""

from __future__ import annotations

from app.providers.errors import StreamUnreadable

MAX_EVENT = 4 * 1024 * 1024
"""Bytes that one event may have; a server that sends more than this without an end is stopped."""

_BOM = b"\xef\xbb\xbf"
_FIELDS = (b":", b"event", b"id", b"retry")


class SseReader:
    """Keeps what is not finished yet. Comments and fields other than ``data`` are left out."""

    def __init__(self, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._after_cr = False
        self._at_start = True
        self.found = False
        """At least one event was finished."""
        self.skipped = False
        """Something came that is neither data, nor a comment, nor a field of an event."""

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of each event that this piece finished, several ``data`` lines joined by line feeds.

        Raises ``StreamUnreadable`` for an event that grows beyond the limit.
        """
        if self._after_cr and piece:
            piece = piece.removeprefix(b"\n")
            self._after_cr = False
        if b"\n" not in piece and b"\r" not in piece:
            self._keep(piece)
            return []
        if self._tail:
            piece = b"".join(self._tail) + piece
        if b"\r" in piece:
            self._after_cr = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self._at_start:
            piece = piece.removeprefix(_BOM)
            self._at_start = False
        *lines, rest = piece.split(b"\n")
        self._tail, self._tail_size = [], 0
        self._keep(rest)
        return self._events(lines)

    def finish(self) -> list[bytes]:
        """What the end of the stream finishes: servers leave out the last blank line, or the last line end."""
        line = b"".join(self._tail)
        self._tail, self._tail_size = [], 0
        return self._events([line, b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        done: list[bytes] = []
        data = self._data
        for line in lines:
            if line[:5] == b"data:":
                data.append(line[6:] if line[5:6] == b" " else line[5:])
                self._data_size += len(line)
                if self._data_size > self._limit:
                    raise self._too_long()
            elif line:
                self.skipped = self.skipped or not line.startswith(_FIELDS)
            elif data:
                done.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
                self._data_size = 0
        self.found = self.found or bool(done)
        return done

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._tail.append(piece)
            self._tail_size += len(piece)
            if self._tail_size > self._limit:
                raise self._too_long()

    def _too_long(self) -> StreamUnreadable:
        return StreamUnreadable(f"one event has more than {self._limit} bytes")
