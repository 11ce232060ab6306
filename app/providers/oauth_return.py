"""The way back from a browser: a port of this machine that waits for one answer (RFC 8252).

Only the exact path, with the state that was given along, ends the waiting, and only once; all else that knocks
(another page, a look for an icon, a second answer) is turned away and changes nothing.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

from app.providers import oauth_refusals as refusals

HOST = "127.0.0.1"
PATH = "/callback"

_LONGEST = 16 * 1024
_SECONDS = 10.0

_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<meta name="color-scheme" content="light dark"><title>{0}</title><main><h1>{0}</h1><p>{1}</p></main></html>'
)
_HEADERS = (
    "content-type: text/html; charset=utf-8",
    "cache-control: no-store",
    "content-security-policy: default-src 'none'; frame-ancestors 'none'",
    "referrer-policy: no-referrer",
    "x-content-type-options: nosniff",
    "connection: close",
)


@dataclass(slots=True)
class Return:
    """Open from ``listen`` on; closed by its owner."""

    state: str = field(repr=False)
    """What the browser has to bring back; made for this login alone."""
    port: int = 0
    _server: asyncio.Server | None = None
    _answer: Mapping[str, str] | None = None
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def address(self) -> str:
        """Where the browser is sent back to, to the letter."""
        return f"http://{HOST}:{self.port}{PATH}"

    async def listen(self) -> None:
        """On ``port``, or on a free one where that is 0. Raises ``ProviderError`` where it is taken."""
        try:
            self._server = await asyncio.start_server(self._receive, HOST, self.port, limit=_LONGEST)
        except OSError:
            raise refusals.port_taken(self.port) from None
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def answer(self) -> Mapping[str, str] | None:
        """What the browser brought back: ``code``, or ``error``."""
        return self._answer

    async def arrived(self) -> None:
        """Returns once there is an answer."""
        await self._arrived.wait()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(_response(*self._judge(head.decode("latin-1"))))
            await writer.drain()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # whoever knocked is gone, or has nothing to say that we would read
        finally:
            writer.close()

    def _judge(self, head: str) -> tuple[HTTPStatus, str, str]:
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        hosts = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:")]
        if target.path != PATH or target.netloc or hosts != [f"{HOST}:{self.port}"]:
            return HTTPStatus.NOT_FOUND, "Nothing is here", "This is not the address of a login."
        if method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED, "Not like this", "A login comes back by itself."
        return self._take(parse_qsl(target.query, keep_blank_values=True))

    def _take(self, pairs: list[tuple[str, str]]) -> tuple[HTTPStatus, str, str]:
        brought = dict(pairs)
        whole = len(brought) == len(pairs) and ("code" in brought) != ("error" in brought)
        state = brought.get("state", "").encode()
        if not whole or not hmac.compare_digest(state, self.state.encode()):
            return HTTPStatus.BAD_REQUEST, "Not this login", "Go back to Plancia and begin the login anew."
        if self._answer is not None:
            return HTTPStatus.GONE, "Already answered", "You can close this tab."
        self._answer = MappingProxyType(brought)
        self._arrived.set()
        self.close()
        if "error" in brought:
            return HTTPStatus.OK, "Not logged in", "Plancia says why. You can close this tab."
        return HTTPStatus.OK, "Back to Plancia", "Plancia completes the login. You can close this tab."


def _response(status: HTTPStatus, title: str, sentence: str) -> bytes:
    body = _PAGE.format(title, sentence).encode()
    lines = (f"HTTP/1.1 {status.value} {status.phrase}", f"content-length: {len(body)}", *_HEADERS, "", "")
    return "\r\n".join(lines).encode() + body
