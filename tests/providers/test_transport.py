"""The client of the wires against a server of bare bytes: what a read brings, and what a failure is called."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import anyio.abc
import httpx
import pytest
from aiohttp.http_parser import HttpResponseParser, HttpResponseParserPy

from app.providers.transport import open_client

TRUST = httpx.create_ssl_context()

pytestmark = pytest.mark.anyio

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
HELLO = b"5\r\nHello\r\n"
END = b"0\r\n\r\n"


@dataclass
class BareServer:
    """Answers the n-th connection's requests with these pieces, each after one request (None: it closes)."""

    url: str
    connections: list[list[bytes]] = field(default_factory=list)
    closed: anyio.Event = field(default_factory=anyio.Event)
    """Set when the first connection was closed from this side."""


@asynccontextmanager
async def serving(*replies: bytes | None) -> AsyncIterator[BareServer]:
    """Every connection answers its requests with ``replies``, in order, and then closes."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server = BareServer(f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}")

    async def answer(stream: anyio.abc.SocketStream) -> None:
        seen: list[bytes] = []
        server.connections.append(seen)
        async with stream:
            for reply in replies:
                try:
                    seen.append(await stream.receive())
                except anyio.EndOfStream:
                    return
                if reply is None:
                    return
                await stream.send(reply)
        server.closed.set()

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        yield server
        tasks.cancel_scope.cancel()


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with open_client(TRUST) as client:
        yield client


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (CHUNKED + HELLO + b"1\r\n!\r\n" + END, "Hello!"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHello", "Hello"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", ""),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"
            + CHUNKED
            + HELLO
            + END,
            "Hello",
        ),
        (CHUNKED + b"5;name=value\r\nHello\r\n0\r\ntrailer: x\r\n\r\n", "Hello"),
    ],
    ids=["chunks", "length", "nothing", "interim responses", "extensions and trailers"],
)
async def test_a_whole_response_leaves_the_connection_for_the_next(
    reply: bytes, text: str, client: httpx.AsyncClient
) -> None:
    async with serving(reply, reply) as server:
        assert [(await client.get(server.url)).text for _ in range(2)] == [text, text]
        assert [len(seen) for seen in server.connections] == [2]


async def test_headers_and_status_arrive_as_sent(client: httpx.AsyncClient) -> None:
    async with serving(
        b"HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nX-A: 1\r\nX-A: 2\r\ncontent-length: 2\r\n\r\nno"
    ) as server:
        response = await client.post(server.url + "/path?q=1", json={"a": "à"}, headers={"x-mine": "yes"})
    assert (response.status_code, response.headers["retry-after"], response.headers.get_list("x-a")) == (
        429,
        "7",
        ["1", "2"],
    )
    (request,) = server.connections[0]
    assert request.startswith(b"POST /path?q=1 HTTP/1.1\r\n")
    assert b"\r\nx-mine: yes\r\n" in request
    assert request.endswith('{"a":"à"}'.encode())


@pytest.mark.parametrize(
    "reply",
    [
        None,
        b"HTTP/1.1 200 OK\r\nconte",
        CHUNKED + HELLO,
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHello",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        CHUNKED + b"zz\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 400_000,
    ],
    ids=[
        "nothing",
        "half a head",
        "chunks cut",
        "length not reached",
        "no HTTP",
        "no chunk",
        "a head without end",
    ],
)
async def test_a_broken_response_is_an_error_of_the_wire(
    reply: bytes | None, client: httpx.AsyncClient
) -> None:
    async with serving(reply) as server:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await client.get(server.url)


@pytest.mark.parametrize("parser", [HttpResponseParser, HttpResponseParserPy], ids=["usual", "without C"])
async def test_a_body_that_breaks_off_into_something_else_is_an_error_of_the_wire(
    parser: object, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aiohttp.client_proto.HttpResponseParser", parser)
    read = anyio.Event()

    async def answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(CHUNKED + HELLO)
            await read.wait()
            await stream.send(b"zz\r\n")
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                await stream.receive()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        async with client.stream("GET", url, timeout=None) as response:
            pieces = response.aiter_raw()
            assert await anext(pieces) == b"Hello"
            read.set()
            with pytest.raises(httpx.ReadError):
                await anext(pieces)
        tasks.cancel_scope.cancel()


async def test_a_refusal_before_the_whole_request_was_read_is_heard(client: httpx.AsyncClient) -> None:
    async with serving(b"HTTP/1.1 413 Too Large\r\ncontent-length: 8\r\n\r\ntoo long") as server:
        response = await client.post(server.url, content=b"x" * 8_000_000)
    assert (response.status_code, response.text) == (413, "too long")


async def test_nobody_waits_for_the_end_of_so_many_other_answers(client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + HELLO, None) as server, AsyncExitStack() as answers:
        for _ in range(101):
            await answers.enter_async_context(client.stream("GET", server.url, timeout=0.1))
        assert len(server.connections) == 101


async def test_one_read_is_one_piece(client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + HELLO * 100 + END) as server:
        async with client.stream("GET", server.url) as response:
            assert [piece async for piece in response.aiter_raw()] == [b"Hello" * 100]


async def test_nobody_listens(client: httpx.AsyncClient) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{unused.getsockname()[1]}")


async def test_a_server_that_neither_accepts_nor_refuses_is_left_in_time(client: httpx.AsyncClient) -> None:
    async with full() as busy:
        with pytest.raises(httpx.ConnectTimeout):
            await client.get(busy, timeout=httpx.Timeout(None, connect=0.02))


async def test_a_server_that_falls_silent_is_left_in_time(client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + HELLO, None) as server:
        with pytest.raises(httpx.ReadTimeout):
            await client.get(server.url, timeout=httpx.Timeout(None, read=0.02))


@asynccontextmanager
async def full() -> AsyncIterator[str]:
    """The address of a socket whose queue of callers is full: it neither accepts nor refuses."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        callers = [socket.socket() for _ in range(4)]
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}"
        for caller in callers:
            caller.close()


async def test_a_response_that_is_left_early_takes_its_connection_along(client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + HELLO, CHUNKED + HELLO + END) as server:
        async with client.stream("GET", server.url) as response:
            async with aclosing(response.aiter_raw()) as pieces:
                assert await anext(pieces) == b"Hello"
    assert len(server.connections) == 1


async def test_a_proxy_that_is_set_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(CHUNKED + HELLO + END) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        async with open_client(TRUST) as client:
            assert (await client.get("http://models.example/v1/models")).text == "Hello"
        (request,) = proxy.connections[0]
        assert request.startswith(b"GET http://models.example/v1/models")
