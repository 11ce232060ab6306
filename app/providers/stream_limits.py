"""How long a wire waits, and the reading of a body under those limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx

from app.providers.errors import StillAtWork, StreamSilent, StreamUnreadable


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Seconds, each from the last thing that counts: comments and other keep-alives do not."""

    connect: float = 10.0
    first_token: float = 300.0
    """From the request to the first event of the answer: a model may think without showing it."""
    between_tokens: float = 180.0
    """A server may hold a long call back until it is complete."""
    after_stop: float = 2.0
    """From the finish reason to the closing mark; a server that leaves it out is not waited for longer."""
    total: float = 3600.0
    max_bytes: int = 64 * 1024 * 1024
    """Of one answer, decompressed."""


_DRAIN = 0.1

LOCAL = StreamLimits(first_token=900.0, between_tokens=900.0)
"""A server of one's own loads its model at the first question, may run on a slow processor, and then takes many
minutes for a call that it holds back until it is complete."""


def limits_for(base_url: str) -> StreamLimits:
    """More patience for an address on this machine or in the private network around it."""
    host = urlsplit(base_url).hostname or ""
    try:
        own = ip_address(host).is_private
    except ValueError:
        own = host == "localhost" or host.endswith((".local", ".lan"))
    return LOCAL if own else StreamLimits()


class TimedBody:
    """The pieces of one body, each in time. Call ``heard`` when a piece held an event of the answer."""

    def __init__(self, pieces: AsyncIterator[bytes], limits: StreamLimits, asked_at: float) -> None:
        """``asked_at`` is the loop's time of the request."""
        self._pieces = pieces
        self._limits = limits
        self._end = asked_at + limits.total
        self._phase, self._wait = "first token", limits.first_token
        self._deadline = min(asked_at + limits.first_token, self._end)
        self._size = 0
        self._is_at_work = False
        """Something came, though it may have been nothing of the answer."""

    async def next(self) -> bytes | None:
        """The next piece, None at the end. Raises ``StreamSilent``, ``StreamUnreadable``, what httpx raises."""
        try:
            async with asyncio.timeout_at(self._deadline):
                piece = await anext(self._pieces, None)
        except TimeoutError:
            raise self._silence() from None
        if piece is not None:
            self._is_at_work = True
            self._size += len(piece)
            if self._size > self._limits.max_bytes:
                raise StreamUnreadable(f"the answer has more than {self._limits.max_bytes} bytes")
        return piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self.next()) is not None:
            yield piece

    async def drain(self) -> None:
        """Read what is left behind the closing mark, so that the connection can be used again; not for long."""
        try:
            async with asyncio.timeout(_DRAIN):
                async for _ in self._pieces:
                    pass
        except (TimeoutError, httpx.HTTPError):
            pass

    def heard(self, *, stopped: bool) -> None:
        """An event of the answer came: from now on the limit for the next one counts."""
        self._phase = "after the end" if stopped else "between tokens"
        self._wait = self._limits.after_stop if stopped else self._limits.between_tokens
        self._deadline = min(asyncio.get_running_loop().time() + self._wait, self._end)

    def _silence(self) -> StreamSilent:
        total = self._deadline >= self._end
        phase, seconds = ("total", self._limits.total) if total else (self._phase, self._wait)
        return StillAtWork(phase, seconds) if self._is_at_work else StreamSilent(phase, seconds)
