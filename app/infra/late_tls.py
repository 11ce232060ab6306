"""TLS for the HTTP client, whose certificates are read when the first connection needs them.

They are many, and reading them takes as long as opening the database; a server on this machine needs none.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any, Self


class LateTLS(ssl.SSLContext):
    """Stands where httpx's own context would, and makes that one for the first handshake: the same trust, later."""

    _real: ssl.SSLContext | None
    _protocols: tuple[str, ...]

    def __new__(cls) -> Self:
        context = super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)
        context._real = None
        context._protocols = ()
        return context

    @property
    def is_made(self) -> bool:
        """Whether a handshake has asked for certificates."""
        return self._real is not None

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        self._protocols = tuple(alpn_protocols)

    def wrap_bio(self, *args: Any, **words: Any) -> ssl.SSLObject:
        """Called in a thread by anyio, as for every context that is not the standard one."""
        return self._context().wrap_bio(*args, **words)

    def wrap_socket(self, *args: Any, **words: Any) -> ssl.SSLSocket:
        return self._context().wrap_socket(*args, **words)

    def _context(self) -> ssl.SSLContext:
        real = self._real
        if real is None:
            import httpx

            real = self._real = httpx.create_ssl_context()
            # As anyio asks of the context it sees: an end without a goodbye is no end.
            real.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
        if self._protocols:
            real.set_alpn_protocols(self._protocols)
        return real
