"""Finding what is already there: keys by name, servers on loopback and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest

from app.providers.detection import PLACES, FoundServer, Place, find_keys, find_servers
from app.providers.sources import SourceConfig

pytestmark = pytest.mark.anyio

OLLAMA, LM_STUDIO, LLAMACPP, VLLM, JAN = PLACES
PLENTY = 5.0
TAGS = {"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen3:8b"}, {"name": "qwen3:8b"}]}
LIST = {"object": "list", "data": [{"id": "local-model", "object": "model"}]}


class Server:
    """A few lines of HTTP on a free port: one answer to everything, and what was asked."""

    def __init__(self, body: bytes, status: str = "200 OK", extra: str = "") -> None:
        self.head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{extra}Connection: close\r\n\r\n"
        self.body = body
        self.asked: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self.head.encode() + self.body)
        await writer.drain()
        writer.close()


class Silent(Server):
    """Takes the question and never answers."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append("")
        await reader.read()
        writer.close()


@asynccontextmanager
async def listening(*servers: Server) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for server in servers:
            listener = await asyncio.start_server(server.answer, "127.0.0.1", 0)
            server.port = listener.sockets[0].getsockname()[1]
            await stack.enter_async_context(listener)
        yield


def at(place: Place, server: Server) -> Place:
    return replace(place, port=server.port)


def serving(value: object) -> Server:
    return Server(json.dumps(value).encode())


def test_keys_are_found_by_name_and_never_shown() -> None:
    found = find_keys(
        {"OPENAI_API_KEY": "sk-1", "GOOGLE_API_KEY": "g-1", "MISTRAL_API_KEY": "", "PATH": "/bin"}
    )
    assert [(key.variable, key.provider) for key in found] == [
        ("OPENAI_API_KEY", "openai"),
        ("GOOGLE_API_KEY", "gemini"),
    ]
    assert "sk-1" not in repr(found)


async def test_servers_are_found_with_their_models_ready_to_be_added() -> None:
    ollama, studio = serving(TAGS), serving(LIST)
    async with listening(ollama, studio):
        found = await find_servers({}, [at(OLLAMA, ollama), at(LM_STUDIO, studio)], PLENTY)
    here = f"http://127.0.0.1:{ollama.port}"
    assert found == (
        FoundServer(
            "Ollama", SourceConfig("ollama", "ollama", here, ("qwen3:8b", "nomic-embed-text:latest"))
        ),
        FoundServer(
            "LM Studio",
            SourceConfig("lmstudio", "openai", f"http://127.0.0.1:{studio.port}/v1", ("local-model",)),
        ),
    )
    assert ollama.asked[0].startswith("GET /api/tags ")
    assert studio.asked[0].startswith("GET /v1/models ")


async def test_a_running_server_without_models_is_found_all_the_same() -> None:
    server = serving({"models": []})
    async with listening(server):
        (found,) = await find_servers({}, [at(OLLAMA, server)], PLENTY)
    assert found.source.models == ()


async def test_where_nobody_listens_nothing_is_found() -> None:
    server = serving(LIST)
    async with listening(server):
        pass
    assert await find_servers({}, [at(JAN, server)], PLENTY) == ()


async def test_one_that_never_answers_holds_up_nobody() -> None:
    silent, studio = Silent(b""), serving(LIST)
    async with listening(silent, studio):
        found = await find_servers({}, [at(LLAMACPP, silent), at(LM_STUDIO, studio)], 0.5)
    assert [server.source.name for server in found] == ["lmstudio"]
    assert silent.asked == [""]


@pytest.mark.parametrize(
    "server",
    [
        Server(b"<html>a web page</html>"),
        Server(b"[" * 100_000),
        Server(b"{}"),
        Server(b"[]"),
        Server(b'{"data": {"id": "x"}}'),
        Server(b'{"error": "who are you"}', "401 Unauthorized"),
        Server(b"", "302 Found", "Location: http://198.51.100.7/v1/models\r\n"),
        Server(b" " * 3_000_000),
        Server(b"\xff\xfe"),
    ],
    ids=["html", "deep", "empty", "list", "data", "unauthorized", "redirect", "endless", "bytes"],
)
async def test_something_else_on_the_port_is_no_model_server(server: Server) -> None:
    async with listening(server):
        assert await find_servers({}, [at(VLLM, server)], PLENTY) == ()
    assert len(server.asked) == 1


async def test_names_that_are_none_are_left_out() -> None:
    rows = [
        {"id": "good"},
        {"id": 7},
        {"id": ""},
        "text",
        {"id": "a\nb"},
        {"id": "x" * 201},
        {},
        {"id": "\u202e"},
    ]
    server = serving({"data": rows})
    async with listening(server):
        (found,) = await find_servers({}, [at(VLLM, server)], PLENTY)
    assert found.source.models == ("good",)


@pytest.mark.parametrize(
    "form", ["127.0.0.1:{}", "http://127.0.0.1:{}", "0.0.0.0:{}", "localhost:{}", "127.0.0.1:{}/"]
)
async def test_ollamas_own_variable_is_honoured(form: str) -> None:
    server = serving(TAGS)
    async with listening(server):
        (found,) = await find_servers({"OLLAMA_HOST": form.format(server.port)}, [OLLAMA], PLENTY)
    assert found.source.base_url == f"http://127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    "host",
    [
        "198.51.100.7:{}",
        "http://model-box:{}",
        "127.0.0.1.example.org:{}",
        "ftp://127.0.0.1:{}",
        "127.0.0.1:port",
        "[",
    ],
)
async def test_an_ollama_elsewhere_is_never_asked(host: str) -> None:
    server = serving(TAGS)
    async with listening(server):
        assert (
            await find_servers({"OLLAMA_HOST": host.format(server.port)}, [at(OLLAMA, server)], PLENTY) == ()
        )
    assert server.asked == []


async def test_a_proxy_is_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, studio = serving({}), serving(LIST)
    async with listening(proxy, studio):
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        found = await find_servers({}, [at(LM_STUDIO, studio)], PLENTY)
    assert [server.source.name for server in found] == ["lmstudio"]
    assert proxy.asked == []
