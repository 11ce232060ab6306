"""Every address of the site map: closed without the cookie and to other origins, in words, harmless to read."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.routing import Route

from app.infra.paths import asset_root
from app.web.assets import Assets
from app.web.response_headers import SAFE_HEADERS
from app.web.routes import routes
from tests.web.asgi import Got, ask
from tests.web.pages import FORM, HOST, HTMX, PORT, SAME, TOKEN, Browser, OpenByHand, open_by_hand

pytestmark = pytest.mark.anyio

OPEN = "/healthz"
UNKNOWN = ("/nothing", "/conversations/x/y/z", "/static/", "/static/../app", "//", "/%00")
METHODS = ("GET", "HEAD", "POST")
STREAM = "/stream"
ENDLESS = "/jobs/stream"
"""There whatever is asked for: it ends with its reader alone."""


def listed() -> list[Route]:
    found = [route for route in routes(Assets(asset_root("static"))) if isinstance(route, Route)]
    assert len(found) > 20
    return found


def addresses() -> Iterator[tuple[str, str]]:
    """Every method of every route, with names of things that are not there in the places of its parameters."""
    for route in listed():
        path = re.sub(r"\{\w+\}", "nobody", route.path)
        yield from ((method, path) for method in sorted(route.methods or ()))


EVERY = [*addresses(), *((method, path) for path in UNKNOWN for method in METHODS)]
CLOSED = [(method, path) for method, path in EVERY if path != OPEN]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("routes")) as opened:
        yield opened


async def test_the_site_map_is_what_the_application_serves(opened: OpenByHand) -> None:
    served = [(route.path, route.methods) for route in opened.routes]
    assert served == [(route.path, route.methods) for route in listed()]


async def test_no_address_takes_another_method_than_the_gate_lets_through() -> None:
    assert {method for method, _ in addresses()} == {"GET", "HEAD", "POST"}


@pytest.mark.parametrize(("method", "path"), CLOSED)
async def test_nobody_gets_in_without_the_cookie(opened: OpenByHand, method: str, path: str) -> None:
    got = await ask(opened.app, method, path, [HOST, SAME, FORM], body=[b"text=hello"])
    assert got.status == 401
    if method != "HEAD":
        assert "plancia open" in got.text
    other = ("cookie", f"{opened.browser.cookie[1].partition('=')[0]}=wrong")
    assert (await ask(opened.app, method, path, [HOST, SAME, FORM, other])).status == 401


FOREIGN = {
    "host": [("host", "evil.example"), SAME],
    "port of the host": [("host", "127.0.0.1:9999"), SAME],
    "no host": [SAME],
    "origin": [HOST, ("origin", "http://evil.example")],
    "null origin": [HOST, ("origin", "null")],
    "port of the origin": [HOST, ("origin", f"http://127.0.0.1:{PORT + 1}")],
    "scheme of the origin": [HOST, ("origin", f"ftp://127.0.0.1:{PORT}")],
    "name of the origin": [HOST, ("origin", f"http://localhost:{PORT}")],
    "another origin beside ours": [HOST, ("origin", f"http://127.0.0.1:{PORT}"), ("origin", "null")],
    "site": [HOST, ("sec-fetch-site", "cross-site")],
    "another port of this site": [HOST, ("sec-fetch-site", "same-site")],
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_another_page_or_name_is_refused_everywhere(
    opened: OpenByHand, headers: list[tuple[str, str]]
) -> None:
    for method, path in EVERY:
        got = await ask(opened.app, method, path, [*headers, opened.browser.cookie, FORM])
        assert got.status == 403, (method, path)


async def test_what_acts_says_where_it_comes_from(opened: OpenByHand) -> None:
    """A POST without Origin and without Fetch Metadata is of no browser that knows them."""
    for method, path in EVERY:
        if method == "POST":
            got = await ask(opened.app, method, path, [HOST, opened.browser.cookie, FORM])
            assert got.status == 403, path
            opened_by_link = [("sec-fetch-site", "none")]
            got = await ask(opened.app, method, path, [HOST, *opened_by_link, opened.browser.cookie, FORM])
            assert got.status == 403, path


async def test_our_own_page_is_let_in_by_either_sign(opened: OpenByHand) -> None:
    for sign in (SAME, ("origin", f"http://127.0.0.1:{PORT}"), ("origin", f"https://127.0.0.1:{PORT}")):
        got = await ask(opened.app, "POST", "/settings", [HOST, sign, opened.browser.cookie, FORM])
        assert got.status == 303


async def test_only_the_health_is_told_to_everybody(opened: OpenByHand) -> None:
    got = await ask(opened.app, "GET", OPEN, [HOST])
    assert got.status == 200
    assert re.fullmatch(r'\{"status":"ok","version":"[^"]+"\}', got.text)


async def test_every_answer_carries_the_headers_that_close_the_page(opened: OpenByHand) -> None:
    answers: list[Got] = []
    for method, path in EVERY:
        for headers in ([HOST, SAME], [HOST, SAME, opened.browser.cookie], [("host", "evil"), SAME]):
            if path == ENDLESS and opened.browser.cookie in headers:
                continue
            got = await ask(opened.app, method, path, [*headers, FORM])
            answers.append(got)
    room = opened.conversation()
    answers += [await opened.browser.get(f"/conversations/{room.id}"), await opened.browser.get("/settings")]
    answers += [await opened.browser.get(bundle) for bundle in (await bundles(opened.browser))]
    answers.append(await ask(opened.app, "DELETE", "/", [HOST, SAME]))
    assert {got.status for got in answers} >= {200, 303, 401, 403, 404, 405}
    for got in answers:
        for name, value in SAFE_HEADERS:
            given = got.header(name.decode())
            assert given is not None
            if name not in (b"cache-control", b"content-security-policy"):
                assert given == value.decode()
        policy = got.header("content-security-policy") or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert len([name for name, _ in got.headers if name == "content-security-policy"]) == 1


async def bundles(browser: Browser) -> set[str]:
    return set(re.findall(r'(?:href|src)="(/static/[^"]+)"', (await browser.get("/settings")).text))


async def test_what_is_not_there_is_said_in_words(opened: OpenByHand) -> None:
    for path in UNKNOWN:
        got = await opened.browser.get(path)
        assert got.status == 404, path
        assert "There is nothing here" in got.text
        part = await opened.browser.get(path, HTMX)
        assert part.text.startswith('<p data-part="sentence">')


async def test_a_method_that_an_address_does_not_take_names_those_it_takes(opened: OpenByHand) -> None:
    taken: dict[str, set[str]] = {}
    for method, path in addresses():
        taken.setdefault(path, set()).add(method)
    for path, methods in taken.items():
        for method in set(METHODS) - methods:
            got = await ask(opened.app, method, path, [HOST, SAME, opened.browser.cookie, FORM])
            assert got.status == 405, (method, path)
            assert set(re.split(r", *", got.header("allow") or "")) == methods


async def test_reading_changes_nothing(opened: OpenByHand) -> None:
    room = opened.conversation()
    other = opened.conversation()
    await opened.browser.post(f"/conversations/{room.id}/messages", {"text": "Hello"})
    await opened.hand.settle(room)
    await opened.browser.post(f"/conversations/{room.id}/messages", {"text": "waits"})
    await opened.browser.post(f"/conversations/{other.id}/delete")
    queries = (
        "",
        "?before=1",
        "?before=x",
        "?tab=usage",
        "?saved",
        f"?deleted={other.id}",
        "?draft=x",
        "?x=%00",
    )
    before = snapshot(opened)
    paths = [
        route.path for route in listed() if "GET" in (route.methods or ()) and not route.path.endswith(STREAM)
    ]
    for path in {
        each.replace("{id}", id).replace("{name}", "x") for each in paths for id in (room.id, other.id)
    }:
        await opened.browser.head(path)
        for query in queries if path != "/welcome" else ("",):
            got = await opened.browser.follow(await opened.browser.get(path + query))
            assert got.status < 500, path + query
    async with opened.browser.stream(f"/conversations/{room.id}/stream", "nobody-1") as stream:
        await stream.until_text("hx-partial")
    assert snapshot(opened) == before
    await room.stop()


def snapshot(opened: OpenByHand) -> object:
    """All rows of all tables, and the files of both folders."""
    folder = opened.bench.folder
    with closing(sqlite3.connect(f"file:{folder.database}?mode=ro", uri=True)) as base:
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: base.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    assert sum(map(len, rows.values())) > 5
    return rows, files(folder.root), files(opened.workspace)


def files(root: Path) -> dict[str, int]:
    return {
        str(path.relative_to(root)): path.stat().st_size
        for path in root.rglob("*")
        if "sqlite3" not in path.name and "logs" not in path.parts
    }


async def test_a_link_with_the_token_opens_any_page_and_loses_the_token(opened: OpenByHand) -> None:
    for path in ("/", "/settings", "/conversations/nobody"):
        got = await ask(opened.app, "GET", path, [HOST], query=f"token={TOKEN}&tab=usage")
        assert (got.status, got.header("location")) == (303, f"{path}?tab=usage")
    assert (await ask(opened.app, "GET", "/", [HOST], query="token=guess")).status == 401
