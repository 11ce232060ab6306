"""One HTTP/1.1 connection: asks, and reads its response piece by piece, each piece what one read brought."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, SupportsIndex, TypeVar

import httpx

if TYPE_CHECKING:
    import httptools

T = TypeVar("T")

_READ = 64 * 1024
_LONGEST_HEAD = 256 * 1024
_IDLE_SECONDS = 30.0


async def in_time(work: Awaitable[T], seconds: float | None, error: type[httpx.TimeoutException]) -> T:
    """What the work comes to, or the error when it takes longer; without seconds it may take for ever."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as late:
        raise error("timed out") from late


async def open_connection(host: str, port: int, tls: ssl.SSLContext | None) -> Connection:
    """Raises ``OSError``, of which TLS errors are a kind."""
    loop = asyncio.get_running_loop()
    reader = _Reader(loop)
    transport, protocol = await loop.create_connection(
        lambda: asyncio.StreamReaderProtocol(reader, loop=loop), host, port, happy_eyeballs_delay=0.25
    )
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    if tls is not None:
        try:
            await writer.start_tls(tls, server_hostname=host)
        except BaseException:
            transport.abort()
            raise
    return Connection(reader, writer)


class Connection:
    """One socket and the response that is being read from it. Raises what httpx's own transport would."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._timeout: float | None = None
        self._parser: httptools.HttpResponseParser
        self._broken: httpx.RemoteProtocolError | None = None
        self.answer = _Answer()
        self.heard = False
        """Anything came since the last question."""
        self._idle_since = 0.0

    async def ask(self, request: bytes, timeout: float | None) -> Connection:
        """Itself, when the head of the response to a request is there; closed where that fails."""
        try:
            await self._ask(request, timeout)
        except BaseException:
            self.close()
            raise
        return self

    async def _ask(self, request: bytes, timeout: float | None) -> None:
        from httptools import HttpResponseParser

        self.heard = False
        self._timeout = timeout
        self._reader.is_idle = False
        self.answer = _Answer()
        self._parser = HttpResponseParser(self.answer)
        self.answer.attach(self._parser)
        self._writer.write(request)
        size = 0
        while not self.answer.has_head:
            data = await self._read()
            if not data:
                raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
            self.heard = True
            size += len(data)
            if size > _LONGEST_HEAD and not self.answer.has_head:
                raise httpx.RemoteProtocolError(
                    f"the head of the response has more than {_LONGEST_HEAD} bytes"
                )
            self._feed(data)

    async def next_piece(self) -> bytes:
        """What the next read brings of the body; empty at its end. What came before a failure comes first."""
        while not self.answer.pieces and not self.answer.is_complete:
            data = await self._read()
            if data:
                self._feed(data)
            elif self.answer.ends_with_connection:
                return b""
            else:
                raise httpx.RemoteProtocolError(
                    "peer closed connection without sending complete message body"
                )
        return self.answer.take()

    def rest(self) -> None:
        self._idle_since = time.monotonic()
        self._reader.is_idle = True

    @property
    def is_reusable(self) -> bool:
        """The response was read to its end, and both sides are willing."""
        whole = self.answer.is_complete and not self.answer.is_overrun and self._broken is None
        return whole and self.answer.keeps_alive and not self._is_gone

    @property
    def is_fresh(self) -> bool:
        """Nothing has happened to it while it was idle."""
        young = time.monotonic() - self._idle_since < _IDLE_SECONDS
        return young and not self._is_gone and not self._reader.is_spoiled

    @property
    def _is_gone(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    def close(self) -> None:
        """At once: what was not yet sent is dropped."""
        self._writer.transport.abort()

    async def _read(self) -> bytes:
        if self._broken is not None:
            raise self._broken
        data = await in_time(self._reader.read(_READ), self._timeout, httpx.ReadTimeout)
        if not data and self._reader.failure is not None:
            raise httpx.ReadError(str(self._reader.failure)) from self._reader.failure
        return data

    def _feed(self, data: bytes) -> None:
        from httptools import HttpParserError, HttpParserUpgrade

        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._broken = httpx.RemoteProtocolError(f"this is no HTTP: {error}")


class _Answer:
    """What the parser found so far; its methods are the parser's callbacks."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.has_head = self.is_complete = self.is_overrun = self.keeps_alive = False
        self.pieces: list[bytes] = []
        self._parser: httptools.HttpResponseParser

    def attach(self, parser: httptools.HttpResponseParser) -> None:
        self._parser = parser

    def on_message_begin(self) -> None:
        self.is_overrun = self.is_complete

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.is_overrun:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.is_overrun:
            return
        self.status = self._parser.get_status_code()
        self.has_head = self.status >= 200

    def on_body(self, data: bytes) -> None:
        if not self.is_overrun:
            self.pieces.append(data)

    def on_message_complete(self) -> None:
        if self.has_head:
            self.is_complete = True
            self.keeps_alive = self._parser.should_keep_alive()
        else:
            self.headers.clear()  # an interim response: the real one follows

    @property
    def ends_with_connection(self) -> bool:
        names = {name.lower() for name, _ in self.headers}
        return not names & {b"content-length", b"transfer-encoding"}

    def take(self) -> bytes:
        piece = self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
        self.pieces.clear()
        return piece


class _Reader(asyncio.StreamReader):
    """Knows whether the server said something that nobody had asked for, and keeps what came before a failure."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_READ, loop=loop)
        self.is_idle = self.is_spoiled = False
        self.failure: Exception | None = None

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        self.is_spoiled = self.is_spoiled or self.is_idle
        super().feed_data(data)

    def set_exception(self, exc: Exception) -> None:
        """A connection that broke: what had arrived by then can still be read."""
        self.failure = exc
        self.feed_eof()
