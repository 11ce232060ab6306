"""The lean transport against a server of bare bytes: whole responses, broken ones, and connections kept or closed."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.abc
import httpx
import pytest

from app.providers.transport import LeanTransport, open_client

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
    async with httpx.AsyncClient(transport=LeanTransport()) as client:
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


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nHello",
        b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nHello",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nHelloHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nBad",
    ],
    ids=["the server wants it closed", "an old server", "more than was asked for"],
)
async def test_a_connection_that_cannot_be_used_again_is_closed(
    reply: bytes, client: httpx.AsyncClient
) -> None:
    async with serving(reply, reply) as server:
        assert [(await client.get(server.url)).text for _ in range(2)] == ["Hello", "Hello"]
        assert len(server.connections) == 2


async def test_a_body_without_a_length_ends_with_the_connection(client: httpx.AsyncClient) -> None:
    async with serving(b"HTTP/1.1 200 OK\r\n\r\nHello") as server:
        assert (await client.get(server.url)).text == "Hello"


async def test_an_idle_connection_that_the_server_closed_is_not_used(client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + HELLO + END) as server:
        await client.get(server.url)
        await server.closed.wait()
        assert (await client.get(server.url)).text == "Hello"
        assert [len(seen) for seen in server.connections] == [1, 1]


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
    ("replies", "error"),
    [
        ([None], httpx.RemoteProtocolError),
        ([b"HTTP/1.1 200 OK\r\nconte"], httpx.RemoteProtocolError),
        ([CHUNKED + HELLO], httpx.RemoteProtocolError),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHello"], httpx.RemoteProtocolError),
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], httpx.RemoteProtocolError),
        ([CHUNKED + b"zz\r\n"], httpx.RemoteProtocolError),
        ([b"HTTP/1.1 200 OK\r\nx: " + b"y" * 400_000], httpx.RemoteProtocolError),
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
    replies: list[bytes | None], error: type[Exception], client: httpx.AsyncClient
) -> None:
    async with serving(*replies) as server:
        with pytest.raises(error):
            await client.get(server.url)


@pytest.mark.parametrize("rest", [b"zz\r\n", b""], ids=["then nonsense", "then nothing"])
async def test_what_came_before_a_failure_comes_first(rest: bytes, client: httpx.AsyncClient) -> None:
    pieces: list[bytes] = []
    async with serving(CHUNKED + HELLO + rest) as server:
        async with client.stream("GET", server.url) as response:
            with pytest.raises(httpx.RemoteProtocolError):
                await gather(response, pieces)
    assert b"".join(pieces) == b"Hello"


async def gather(response: httpx.Response, into: list[bytes]) -> None:
    async for piece in response.aiter_raw():
        into.append(piece)  # noqa: PERF401 - what came before a failure is to be seen


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


async def test_a_full_house_is_left_in_time_and_entered_when_there_is_room() -> None:
    async with httpx.AsyncClient(transport=LeanTransport(most_at_once=1)) as client:
        async with serving(CHUNKED + HELLO, CHUNKED + END) as server:
            async with client.stream("GET", server.url):
                with pytest.raises(httpx.PoolTimeout):
                    await client.get(server.url, timeout=httpx.Timeout(None, pool=0.02))
            async with client.stream("GET", server.url) as response:
                assert response.status_code == 200


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


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nb", "a\0b"])
async def test_a_header_cannot_smuggle_another_one(value: str, client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + END) as server:
        with pytest.raises(httpx.LocalProtocolError):
            await client.get(server.url, headers={"x-mine": value})
        assert server.connections == []


async def test_a_response_that_is_left_early_takes_its_connection_along(client: httpx.AsyncClient) -> None:
    async with serving(CHUNKED + HELLO, CHUNKED + HELLO + END) as server:
        async with client.stream("GET", server.url) as response:
            async with aclosing(response.aiter_raw()) as pieces:
                assert await anext(pieces) == b"Hello"
    assert len(server.connections) == 1


async def test_the_client_is_the_lean_one_where_no_proxy_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with open_client() as client:
        assert isinstance(client._transport, LeanTransport)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    async with open_client() as client:
        assert not isinstance(client._transport, LeanTransport)
