"""The HTTP client that all wires share.

httpx hands out every chunk of a body by itself, at several times the cost of reading it, and a model sends a chunk
per token. Over aiohttp, whatever one read of the network brought comes out as one piece.
"""

from __future__ import annotations

import ssl
from typing import Any
from urllib.request import getproxies

import httpx


def open_client(context: ssl.SSLContext | None = None) -> httpx.AsyncClient:
    """Closed by its owner. Where a proxy is set it is httpx's own transport, which knows how to use one.

    ``context`` verifies servers; by default as httpx does, ``SSL_CERT_FILE`` included.
    """
    verify = context or httpx.create_ssl_context()
    if getproxies():
        return httpx.AsyncClient(verify=verify)
    # aiohttp takes as long to load as all the rest of a start that asks no model.
    from app.providers.aiohttp_transport import AiohttpTransport

    return StraightClient(AiohttpTransport(verify))


class StraightClient(httpx.AsyncClient):
    """Sends every request as it is: no cookies, no netrc, no redirects. Asking for them all costs more than sending."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        super().__init__(transport=transport, trust_env=False)
        self._straight = transport

    async def send(self, request: httpx.Request, *, stream: bool = False, **_: Any) -> httpx.Response:
        """See ``httpx.AsyncClient``; the caller closes a response with ``stream``."""
        if self.is_closed:
            raise RuntimeError("The client is closed.")
        response = await self._straight.handle_async_request(request)
        if not stream:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response
