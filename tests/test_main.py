"""The application as a server gets it: who is let in by which link and cookie, and under which names."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.infra.paths import DataFolder
from app.main import Page, ServerSettings, create_app
from app.workbench import Workbench, open_workbench
from app.workspace import conversations
from tests.web.asgi import Got, ask

pytestmark = pytest.mark.anyio
PORT = 8484
SAME = ("sec-fetch-site", "same-origin")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    environment = {"PLANCIA_WORKSPACE": str(tmp_path / "usual")}
    async with open_workbench(DataFolder(tmp_path / "data"), environment=environment) as bench:
        yield bench


def page(bench: Workbench, host: str = "127.0.0.1", token: str = "token-1", **more: Path) -> Page:
    return create_app(bench, ServerSettings(host, PORT, token, **more))


async def get(
    app: Page, path: str, *headers: tuple[str, str], host: str = "127.0.0.1", query: str = ""
) -> Got:
    return await ask(app, "GET", path, [("host", f"{host}:{PORT}"), *headers], query=query)


async def cookie_of(app: Page, token: str = "token-1") -> tuple[str, str]:
    given = (await get(app, "/", query=f"token={token}")).header("set-cookie")
    assert given is not None
    return "cookie", given.partition(";")[0]


async def test_the_printed_link_sets_a_cookie_that_scripts_and_other_sites_do_not_get(
    bench: Workbench,
) -> None:
    got = await get(page(bench), "/", query="token=token-1")
    assert (got.status, got.header("location")) == (303, "/")
    given = got.header("set-cookie") or ""
    assert re.match(r"plancia-[0-9a-f]{8}=[\w-]{43}; ", given)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(given.split("; "))
    assert "token-1" not in given


async def test_the_cookie_outlives_the_server_and_the_token(bench: Workbench) -> None:
    cookie = await cookie_of(page(bench))
    again = page(bench, token="token-2")
    assert (await get(again, "/settings", cookie)).status == 200
    assert (await get(again, "/", query="token=token-1")).status == 401


async def test_a_cookie_of_another_data_folder_opens_nothing(bench: Workbench, tmp_path: Path) -> None:
    cookie = await cookie_of(page(bench))
    async with open_workbench(DataFolder(tmp_path / "other"), environment={}) as other:
        assert (await get(page(other), "/settings", cookie)).status == 401
        assert (await get(page(other), "/settings", cookie, await cookie_of(page(other)))).status == 200


async def test_the_page_loads_what_it_names_and_only_from_here(bench: Workbench) -> None:
    app = page(bench)
    cookie = await cookie_of(app)
    html = (await get(app, "/settings", cookie)).text
    named = re.findall(r'<(?:script|link)[^>]+(?:src|href)="([^"]+)"', html)
    assert len(named) > 2
    for address in named:
        if not address.startswith("data:"):
            assert (await get(app, address, cookie)).status == 200
    assert not re.search(r'(?:src|href|action)="(?:https?:)?//', html)


@pytest.mark.parametrize(
    ("host", "let_in", "kept_out"),
    [
        ("127.0.0.1", ["127.0.0.1", "localhost", "[::1]"], ["0.0.0.0", "192.168.1.5", "evil.example"]),
        ("192.168.1.5", ["192.168.1.5", "localhost"], ["192.168.1.6", "evil.example"]),
        ("0.0.0.0", ["localhost"], ["evil.example", "localhost.evil.example"]),
        ("::1", ["[::1]", "localhost"], ["[::2]"]),
    ],
)
async def test_the_server_answers_to_the_names_it_listens_on(
    bench: Workbench, host: str, let_in: list[str], kept_out: list[str]
) -> None:
    app = page(bench, host)
    for name in let_in:
        assert (await get(app, "/healthz", host=name)).status == 200, name
    for name in kept_out:
        assert (await get(app, "/healthz", host=name)).status == 403, name


async def test_new_conversations_work_in_the_folder_of_the_start_else_in_the_usual_one(
    bench: Workbench, tmp_path: Path
) -> None:
    for more, folder in (({}, tmp_path / "usual"), ({"workspace": tmp_path / "named"}, tmp_path / "named")):
        app = page(bench, **more)
        headers = [("host", f"127.0.0.1:{PORT}"), SAME, await cookie_of(app)]
        got = await ask(app, "POST", "/conversations", headers)
        row = conversations.load_conversation(bench.store, (got.header("location") or "").rpartition("/")[2])
        assert row.workspace == str(folder)
        assert folder.is_dir()


async def test_nothing_but_http_is_spoken(bench: Workbench) -> None:
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/conversations/x/stream", "headers": [], "query_string": b""}
    await page(bench)(scope, receive, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]
