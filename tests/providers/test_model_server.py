"""One HTTP server with one key: what is sent to it, how long it is waited for, what its refusals say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from app import __version__
from app.providers.errors import PageInstead, StreamSilent, StreamUnreadable
from app.providers.model_server import ModelServer, read_refusal

pytestmark = pytest.mark.anyio

Answer = Callable[[httpx.Request], httpx.Response]


@asynccontextmanager
async def server(answer: Answer, **credentials: str) -> AsyncIterator[ModelServer]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        yield ModelServer(client, "http://127.0.0.1:1/v1", credentials, connect=5.0)


async def test_a_request_carries_its_credentials_and_no_more_of_us_than_our_name() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    async with server(answer, authorization="Bearer sk-1") as at:
        await (await at.send("POST", "chat/completions", b"{}", 5)).aclose()
        await (await at.send("GET", "models", None, 5)).aclose()
    post, get = seen
    assert str(post.url) == "http://127.0.0.1:1/v1/chat/completions"
    assert post.headers["authorization"] == "Bearer sk-1"
    assert post.headers["user-agent"] == f"plancia/{__version__}"
    assert post.headers["content-type"] == "application/json"
    assert post.content == b"{}"
    assert "content-type" not in get.headers


async def test_a_key_with_signs_that_no_header_has_never_leaves() -> None:
    async with server(lambda request: httpx.Response(200), authorization="Bearer ключ") as at:
        with pytest.raises(UnicodeEncodeError):
            await at.send("GET", "models", None, 5)


async def test_a_redirect_is_not_followed() -> None:
    async with server(
        lambda request: httpx.Response(302, headers={"location": "http://evil.example/"})
    ) as at:
        assert (await at.send("GET", "models", None, 5)).status_code == 302


async def test_a_web_page_is_no_answer_of_a_model_server() -> None:
    async with server(lambda request: httpx.Response(200, html="<h1>Welcome</h1>")) as at:
        with pytest.raises(PageInstead):
            await at.send("GET", "models", None, 5)


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("packing", ["gzip, gzip", "br"])
async def test_what_is_packed_otherwise_than_once_is_not_unpacked(packing: str, status: int) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("read")
        yield b""

    response = httpx.Response(status, headers={"content-encoding": packing}, content=never())
    async with server(lambda request: response) as at:
        with pytest.raises(StreamUnreadable):
            await at.send("GET", "models", None, 5)
    assert response.is_closed


async def test_a_server_that_says_nothing_is_waited_for_with_an_end() -> None:
    class Silent(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await asyncio.Event().wait()
            raise AssertionError

    async with httpx.AsyncClient(transport=Silent()) as client:
        with pytest.raises(StreamSilent):
            await ModelServer(client, "http://127.0.0.1:1", {}, connect=5.0).send("GET", "models", None, 0)


async def test_a_refusal_is_read_in_the_servers_own_words() -> None:
    body = {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}
    symptom = await read_refusal(httpx.Response(401, json=body))
    assert (symptom.status, symptom.message) == (401, "Incorrect API key provided.")
    assert "invalid_api_key" in symptom.code


async def test_a_refusal_without_end_is_read_no_further_than_it_tells() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    response = httpx.Response(500, content=endless())
    assert (await read_refusal(response)).status == 500
    assert response.is_closed
