"""httpx over aiohttp: what one read of the network brought is one piece, and what went wrong is named as it was.

aiohttp's own words for a failure fit its own names; a user has to be told whether it was the address, the connection,
TLS, or the answer.
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import AsyncIterator

import aiohttp
import httpx
from aiohttp.http_exceptions import HttpProcessingError

_LONGEST_HEADER = 64 * 1024
_AT_ONCE = 512 * 1024
"""Bytes of a request that aiohttp writes at one go; more of them would hold up everything else."""

_MEANINGS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.InvalidURL, httpx.UnsupportedProtocol),
    (aiohttp.NonHttpUrlClientError, httpx.UnsupportedProtocol),
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (aiohttp.SocketTimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
    (aiohttp.ClientOSError, httpx.ReadError),
    (aiohttp.ClientResponseError, httpx.RemoteProtocolError),
    (aiohttp.ClientError, httpx.ReadError),
    (HttpProcessingError, httpx.ReadError),  # of a body, where aiohttp runs without its parser in C
    (ValueError, httpx.LocalProtocolError),
)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Keeps no cookies, follows nothing, decompresses nothing, and takes headers as long as gateways send them."""

    def __init__(self, context: ssl.SSLContext) -> None:
        """``context`` verifies servers."""
        self._context = context
        self._session: aiohttp.ClientSession | None = None
        self._bodies: dict[asyncio.Future[None], aiohttp.StreamReader] = {}
        """What is read over each open connection, by the future of its end."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises ``httpx.TransportError``. What the request sends has no limit of its own."""
        limits = request.extensions["timeout"]
        timeout = aiohttp.ClientTimeout(
            sock_connect=limits["connect"], sock_read=limits["read"], connect=limits["pool"]
        )
        content = await request.aread()
        try:
            answer = await self._open().request(
                request.method,
                str(request.url),
                headers=request.headers,
                data=io.BytesIO(content) if len(content) > _AT_ONCE else content or None,
                allow_redirects=False,
                timeout=timeout,
            )
        except (aiohttp.ClientError, ValueError) as error:
            failure = error
        else:
            self._watch(answer)
            return httpx.Response(
                answer.status, headers=answer.raw_headers, stream=_Body(answer), request=request
            )
        # Raised out here, so that the sentence is read from what happened and not from aiohttp's words about it.
        raise _meant(failure)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        """Made with the first request: it belongs to the loop that runs then."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # Who asks so much at once is not told that a server does not answer.
                connector=aiohttp.TCPConnector(ssl=self._context, limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                max_line_size=_LONGEST_HEADER,
                max_field_size=_LONGEST_HEADER,
            )
        return self._session

    def _watch(self, answer: aiohttp.ClientResponse) -> None:
        """aiohttp ends a connection over which a broken chunk comes, and lets who reads the body wait for ever."""
        protocol = answer.connection.protocol if answer.connection is not None else None
        closed = protocol.closed if protocol is not None else None
        if closed is not None:
            if closed not in self._bodies:
                closed.add_done_callback(self._lost)
            self._bodies[closed] = answer.content

    def _lost(self, closed: asyncio.Future[None]) -> None:
        body = self._bodies.pop(closed)
        cause = None if closed.cancelled() else closed.exception()
        if not body.is_eof() and body.exception() is None:
            body.set_exception(
                aiohttp.ClientPayloadError(f"it ended in the middle: {cause or 'no HTTP came'}")
            )


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while piece := await self._answer.content.readany():
                yield piece
            return
        except (aiohttp.ClientError, HttpProcessingError, ValueError) as error:
            failure = error
        raise _meant(failure)

    async def aclose(self) -> None:
        self._answer.release()
        await self._answer.wait_for_close()


def _meant(error: Exception) -> httpx.TransportError:
    """The error in httpx's names, caused by what the system or TLS said."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None)
    meaning = next(meaning for kind, meaning in _MEANINGS if isinstance(error, kind))
    words = str(cause or error)
    if meaning is httpx.UnsupportedProtocol:
        words = f"not a URL of a known protocol: {words}"
    named = meaning(words)
    named.__cause__ = cause
    return named
