"""A small web for tests: one server on this machine that stands in for every public address.

``Names`` is its telephone book, with one answer for each look-up. ``Detour`` is the network between: it leads any
number to the server, and notes which one was dialled. Everything before it is what runs outside tests as well.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import httpx

from tests.fakes.http_wire import Connection, Reply, Request

PUBLIC = "93.184.215.14"

Serve = Callable[[Request, Reply], Awaitable[None]]


def page(
    body: bytes | str, kind: str = "text/html; charset=utf-8", status: int = 200, **headers: str
) -> Serve:
    """A whole answer."""
    data = body.encode() if isinstance(body, str) else body
    fields = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}

    async def serve(request: Request, reply: Reply) -> None:
        reply.whole(status, fields, data)

    return serve


def redirect(place: str, status: int = 302) -> Serve:
    return page("", status=status, location=place)


@dataclass(slots=True)
class Names:
    """Look-ups by name. The last answer of a name stands for all that follow."""

    book: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.book.get(host, [[PUBLIC]])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@dataclass(slots=True)
class Website:
    """What the server has at its paths, and what came in."""

    port: int
    pages: dict[str, Serve] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)
    open: int = 0
    unreachable: set[str] = field(default_factory=set)
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: Request, reply: Reply) -> None:
        self.requests.append(request)
        await self.pages.get(request.path, page("<p>nothing here", status=404))(request, reply)

    def transport(self, verify: ssl.SSLContext | bool = True) -> httpx.AsyncBaseTransport:
        """The network, through the detour."""
        return Detour(self, verify)

    def came(self) -> None:
        self.open += 1
        self._quiet.clear()

    def left(self) -> None:
        self.open -= 1
        if not self.open:
            self._quiet.set()

    async def until_all_left(self) -> None:
        """Returns as soon as no client is connected."""
        if self.open:
            await self._quiet.wait()


class Detour(httpx.AsyncBaseTransport):
    def __init__(self, website: Website, verify: ssl.SSLContext | bool) -> None:
        self._website = website
        self._straight = httpx.AsyncHTTPTransport(verify=verify)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._website.dialled.append(request.url.host)
        if request.url.host in self._website.unreachable:
            raise httpx.ConnectError("refused")
        request.url = request.url.copy_with(host="127.0.0.1", port=self._website.port)
        return await self._straight.handle_async_request(request)

    async def aclose(self) -> None:
        await self._straight.aclose()


class _Counted(Connection):
    def __init__(self, website: Website) -> None:
        super().__init__(website.handle)
        self._website = website

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._website.came()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._website.left()


@asynccontextmanager
async def serving(
    pages: Mapping[str, Serve], certificate: ssl.SSLContext | None = None
) -> AsyncIterator[Website]:
    """A server with these pages by path; with TLS where it is given a certificate.

    It is left when no client holds a connection any more.
    """
    website = Website(0, dict(pages))
    server = await asyncio.get_running_loop().create_server(
        lambda: _Counted(website), "127.0.0.1", 0, ssl=certificate
    )
    website.port = server.sockets[0].getsockname()[1]
    try:
        yield website
    finally:
        async with anyio.create_task_group() as group:
            # Before it is closed: Python 3.11 does not wait for the connections of a closed server.
            group.start_soon(server.wait_closed)
            await anyio.lowlevel.checkpoint()
            server.close()
