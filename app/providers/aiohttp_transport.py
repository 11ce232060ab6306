"""aiohttp's transport for httpx, frank about what went wrong before there was a response.

The stock mapping calls a refused connection a timeout, names TLS where there was none, and leaves addresses, headers
and malformed heads unmapped; a user has to be told which of them it was.
"""

from __future__ import annotations

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

_LONGEST_HEADER = 64 * 1024

_MEANINGS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.InvalidURL, httpx.UnsupportedProtocol),
    (aiohttp.NonHttpUrlClientError, httpx.UnsupportedProtocol),
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (aiohttp.SocketTimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
    (aiohttp.ClientOSError, httpx.ReadError),
    (aiohttp.ClientResponseError, httpx.RemoteProtocolError),
    (ValueError, httpx.LocalProtocolError),
)


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
        try:
            return await super().handle_async_request(request)
        except (httpx.TransportError, aiohttp.ClientError, ValueError) as error:
            failure = error
        # Raised out here, so that the sentence is read from what happened and not from aiohttp's words about it.
        raise _meant(failure)


def _meant(error: Exception) -> Exception:
    """What the first error was, in httpx's names, caused by what the system or TLS said."""
    first = error.__cause__ if isinstance(error, httpx.TransportError) and error.__cause__ else error
    cause = getattr(first, "certificate_error", None) or getattr(first, "os_error", None)
    for kind, meaning in _MEANINGS:
        if isinstance(first, kind):
            words = str(cause or first)
            if meaning is httpx.UnsupportedProtocol:
                words = f"not a URL of a known protocol: {words}"
            named = meaning(words)
            named.__cause__ = cause
            return named
    return error
