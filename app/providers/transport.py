"""A lean HTTP/1.1 transport for httpx: everything one read of the network brought comes out as one piece.

The stock transport hands out every chunk by itself, at several times the cost of reading it; a model sends a chunk
per token. Parsing is llhttp's, by ``httptools``; sockets and TLS are asyncio's. ``open_client`` chooses it where it
can serve, and httpx's own transport where a proxy is set or ``httptools`` is not installed.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from urllib.request import getproxies

import httpx

from app.providers.connection import Connection, in_time, open_connection

Origin = tuple[str, str, int]
"""Scheme, host and port."""

_IDLE_KEPT = 16
_MOST_AT_ONCE = 100
_BREAKS_A_HEADER = re.compile(rb"[\r\n\0]")


def open_client() -> httpx.AsyncClient:
    """The client that all wires share; its owner closes it."""
    try:
        import httptools  # noqa: F401 - only whether it is there
    except ImportError:
        return httpx.AsyncClient()
    return httpx.AsyncClient() if getproxies() else httpx.AsyncClient(transport=LeanTransport())


class LeanTransport(httpx.AsyncBaseTransport):
    """Keeps idle connections for a while; opens at most 100 at once."""

    def __init__(self, context: ssl.SSLContext | None = None, most_at_once: int = _MOST_AT_ONCE) -> None:
        """``context`` verifies servers; by default as httpx does."""
        self._context = context
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._room = asyncio.Semaphore(most_at_once)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol("Request URL is missing an 'http://' or 'https://' protocol.")
        timeouts = request.extensions.get("timeout", {})
        head = _head_of(request)
        body = await request.aread()
        await in_time(self._room.acquire(), timeouts.get("pool"), httpx.PoolTimeout)
        origin = (request.url.scheme, request.url.raw_host.decode("ascii"), _port_of(request.url))
        try:
            connection = await self._exchange(origin, head + body, timeouts)
        except BaseException:
            self._room.release()
            raise
        stream = _Body(self, origin, connection)
        return httpx.Response(
            connection.answer.status,
            headers=connection.answer.headers,
            stream=stream,
            extensions={"http_version": b"HTTP/1.1"},
        )

    async def _exchange(
        self, origin: Origin, data: bytes, timeouts: Mapping[str, float | None]
    ) -> Connection:
        """A connection on which the head of the response to ``data`` has arrived."""
        read = timeouts.get("read")
        while (idle := self._take_idle(origin)) is not None:
            try:
                return await idle.ask(data, read)
            except (httpx.RemoteProtocolError, httpx.ReadError):
                # The server closed it in the very moment of asking, so nothing was done there.
                if idle.heard:
                    raise
        connection = await self._connect(origin, timeouts.get("connect"))
        return await connection.ask(data, read)

    async def aclose(self) -> None:
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    def release(self, origin: Origin, connection: Connection) -> None:
        """A response is over: its connection is kept where it can be used again."""
        if connection.is_reusable and len(self._idle[origin]) < _IDLE_KEPT:
            connection.rest()
            self._idle[origin].append(connection)
        else:
            connection.close()
        self._room.release()

    def _take_idle(self, origin: Origin) -> Connection | None:
        waiting = self._idle[origin]
        while waiting:
            connection = waiting.pop()
            if connection.is_fresh:
                return connection
            connection.close()
        return None

    async def _connect(self, origin: Origin, timeout: float | None) -> Connection:
        scheme, host, port = origin
        if scheme == "https" and self._context is None:
            self._context = httpx.create_ssl_context()
        tls = self._context if scheme == "https" else None
        opening = open_connection(host, port, tls)
        try:
            return await in_time(opening, timeout, httpx.ConnectTimeout)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error


class _Body(httpx.AsyncByteStream):
    """The body of one response; closing it early closes the connection."""

    def __init__(self, transport: LeanTransport, origin: Origin, connection: Connection) -> None:
        self._transport = transport
        self._origin = origin
        self._connection: Connection | None = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self._connection is not None:
            piece = await self._connection.next_piece()
            if not piece:
                return
            yield piece

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.release(self._origin, connection)


def _head_of(request: httpx.Request) -> bytes:
    """The request line and the headers. Raises ``LocalProtocolError`` for a header that would become two."""
    lines = [request.method.encode("ascii") + b" " + request.url.raw_path + b" HTTP/1.1"]
    for name, value in request.headers.raw:
        if _BREAKS_A_HEADER.search(name) or _BREAKS_A_HEADER.search(value):
            raise httpx.LocalProtocolError("Illegal header value")
        lines.append(name + b": " + value)
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _port_of(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)
