"""aiohttp's transport for httpx, frank about what went wrong before there was a response.

The stock mapping calls a refused connection a timeout and leaves malformed heads unmapped; a user has to be told
which of them it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

_MEANINGS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (aiohttp.SocketTimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
    (aiohttp.ClientOSError, httpx.ReadError),
    (aiohttp.ClientResponseError, httpx.RemoteProtocolError),
)


_LONGEST_HEADER = 64 * 1024


class FrankTransport(AiohttpTransport):
    def get_client(self) -> aiohttp.ClientSession:
        """Keeps no cookies, and takes headers as long as gateways send them."""
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self.ssl_context),
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        with _meant():
            return await super().handle_async_request(request)


@contextmanager
def _meant() -> Iterator[None]:
    """Raise what the first error was, in httpx's names."""
    try:
        yield
    except (httpx.TransportError, aiohttp.ClientError) as error:
        first = error.__cause__ if isinstance(error, httpx.TransportError) else error
        for kind, meaning in _MEANINGS:
            if isinstance(first, kind):
                raise meaning(str(first)) from first
        raise
