"""The outermost gate: who may speak to this server, from which page, and with which key.

It stands before routing, so that every address passes it: pages, streams, static files, unknown ones. A request
goes through in this order: method, Host, Origin and Fetch Metadata, token or cookie, size of the body. What
fails gets a page in words; every answer carries the headers that keep a browser from doing harm.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlencode

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.infra.clock import Clock
from app.infra.logs import note
from app.web.answers import Answer, Refusals
from app.web.response_headers import with_safe_headers
from app.workspace.attached import LARGEST_TOGETHER

METHODS = ("GET", "HEAD", "POST")
OPEN_PATH = "/healthz"
LONGEST_BODY = 16 * 1024 * 1024
"""Bytes of a request; more is refused before it is read to the end."""

LONGEST_UPLOAD = LONGEST_BODY + LARGEST_TOGETHER
"""The same of one that may bring files of the user."""

_UPLOADS = re.compile(r"/conversations/[^/]+/(?:attachments|messages|steer|forms/[^/]+)")

COOKIE_SECONDS = 30 * 24 * 3600


class HostCheck:
    """Exactly one Host, exactly one of ours, port included: a rebound name looks like any other host."""

    def __init__(self, port: int, names: Sequence[str] = ()) -> None:
        hosts = ["127.0.0.1", "localhost", "[::1]", *map(_bracketed, names)]
        self.hosts = frozenset(f"{host}:{port}" for host in hosts) | frozenset(hosts if port == 80 else ())

    def host(self, scope: Scope) -> str | None:
        """The Host of the request where it is one of ours, else None."""
        sent = values(scope, b"host")
        return sent[0] if len(sent) == 1 and sent[0] in self.hosts else None


class OriginCheck:
    """A page of another origin may bring a reader here, by a link. It may not read, embed or act."""

    def allows(self, scope: Scope, host: str) -> bool:
        origins, sites = values(scope, b"origin"), values(scope, b"sec-fetch-site")
        if len(origins) > 1 or len(sites) > 1:
            return False
        own = (f"http://{host}", f"https://{host}")
        if origins and origins[0] not in own:
            return False
        if scope["method"] == "POST":
            return sites == ["same-origin"] if sites else bool(origins)
        return not sites or sites[0] in ("same-origin", "none") or self._is_followed_link(scope, sites[0])

    def _is_followed_link(self, scope: Scope, site: str) -> bool:
        mode, goal = values(scope, b"sec-fetch-mode"), values(scope, b"sec-fetch-dest")
        return site in ("same-site", "cross-site") and mode == ["navigate"] and goal == ["document"]


class TokenCheck:
    """A token in the URL opens the door once; from then on a cookie does, which page scripts cannot read.

    ``session`` is the cookie's value, a secret of its own, so that the token never lies in a cookie jar; ``instance``
    keeps the cookies of two servers on one machine apart, since browsers share them over ports.
    """

    FREE_TRIES = 5
    LONGEST_DELAY = 4.0

    def __init__(self, token: str, session: str, instance: str, clock: Clock) -> None:
        self.cookie = f"plancia-{instance}"
        self._token = token
        self._session = session
        self._clock = clock
        self._failures = 0
        self._last_failure = 0.0

    def has_session(self, scope: Scope) -> bool:
        pairs = (
            part.strip().partition("=") for header in values(scope, b"cookie") for part in header.split(";")
        )
        return any(name == self.cookie and same(value, self._session) for name, _, value in pairs)

    async def exchange(self, scope: Scope, tokens: Sequence[str]) -> Answer | None:
        """The redirect that sets the cookie and clears the address, or None for a wrong token, after a while."""
        if self.has_session(scope):
            return _to_clean_address(scope)
        if len(tokens) == 1 and same(tokens[0], self._token):
            self._failures = 0
            value = (
                f"{self.cookie}={self._session}; Max-Age={COOKIE_SECONDS}; Path=/; HttpOnly; SameSite=Strict"
            )
            return _to_clean_address(scope, (b"set-cookie", value.encode("latin-1")))
        await self._slow_down()
        return None

    async def _slow_down(self) -> None:
        """A guess costs time, twice as much each; a minute without one forgives."""
        now = self._clock.monotonic()
        self._failures = self._failures + 1 if now - self._last_failure < 60 else 1
        self._last_failure = now
        if self._failures == self.FREE_TRIES + 1:
            note("wrong_tokens", tries=self._failures)
        if self._failures > self.FREE_TRIES:
            doubled = min(self._failures - self.FREE_TRIES, 16)
            await self._clock.sleep(min(0.125 * 2**doubled, self.LONGEST_DELAY))


class Guard:
    """The ASGI application around the application."""

    def __init__(self, app: ASGIApp, *, hosts: HostCheck, door: TokenCheck, refusals: Refusals) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = OriginCheck()
        self._door = door
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, with_safe_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._refusal(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return
        await self._app(scope, bounded(receive, longest_body(scope)), send)

    async def _refusal(self, scope: Scope) -> Answer | None:
        """The answer that ends the request here, or None where it may go on."""
        refuse = self._refusals.answer
        host = self._hosts.host(scope)
        if host is None:
            return refuse(403, scope)
        if scope["method"] not in METHODS:
            return refuse(405, scope, (b"allow", ", ".join(METHODS).encode()))
        if not self._origins.allows(scope, host):
            return refuse(403, scope)
        if scope["path"] == OPEN_PATH:
            return None
        tokens = [value for name, value in _query(scope) if name == "token"]
        if tokens and scope["method"] != "POST":
            return await self._door.exchange(scope, tokens) or refuse(401, scope)
        if not self._door.has_session(scope):
            return refuse(401, scope)
        return refuse(413, scope) if _announces_too_much(scope) else None


def longest_body(scope: Scope) -> int:
    """Bytes that a request may have."""
    brings_files = any(kind.startswith("multipart/form-data") for kind in values(scope, b"content-type"))
    return LONGEST_UPLOAD if brings_files and _UPLOADS.fullmatch(scope["path"]) else LONGEST_BODY


def bounded(receive: Receive, longest: int) -> Receive:
    """Counts what comes in; the application is told 413 as soon as it is too much."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > longest:
            raise HTTPException(413)
        return message

    return counted


def same(given: str, known: str) -> bool:
    """Equality in a time that tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), known.encode("utf-8"))


def values(scope: Scope, name: bytes) -> list[str]:
    """All values of one header, in order."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _announces_too_much(scope: Scope) -> bool:
    longest, lengths = longest_body(scope), values(scope, b"content-length")
    return any(not length.isdecimal() or int(length) > longest for length in lengths)


def _to_clean_address(scope: Scope, *headers: tuple[bytes, bytes]) -> Answer:
    """303 to the same path without its token. The path is ours whatever it looks like: it begins with one slash."""
    rest = urlencode([(name, value) for name, value in _query(scope) if name != "token"])
    path = "/" + quote(scope["path"].lstrip("/\\"), safe="/")
    place = f"{path}?{rest}" if rest else path
    return Answer(303, b"", ((b"location", place.encode("ascii")), *headers))
