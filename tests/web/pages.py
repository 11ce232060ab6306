"""The whole page in one process: a real data folder, the real application, a browser's cookie, no server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import anyio
from anyio.abc import TaskGroup
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message

from app.engine.harness import Harness
from app.engine.provider import ModelSource
from app.group_chat.bus import Bus
from app.group_chat.room import Room
from app.infra.clock import Clock
from app.infra.ids import new_id
from app.infra.paths import DataFolder
from app.main import Page, ServerSettings, create_app
from app.web.guards import Guard
from app.web.page_feed import PageFeed
from app.web.site import Site
from app.workbench import Workbench, open_cabinet, open_workbench
from app.workspace import conversations
from tests.fakes.clock import FakeClock
from tests.fakes.machine import unconfined
from tests.web.asgi import Got, ask
from tests.web.by_hand import Hand, MembersByHand, ModelByHand
from tests.web.live_page import LivePage, read_messages
from tests.web.live_page import Message as StreamMessage

PORT = 8484
TOKEN = "the-token-of-this-test"
HOST = ("host", f"127.0.0.1:{PORT}")
SAME = ("sec-fetch-site", "same-origin")
FORM = ("content-type", "application/x-www-form-urlencoded")
HTMX = ("hx-request", "true")


class Browser:
    """Signed in, on this machine, on our own page."""

    def __init__(self, app: ASGIApp, cookie: str) -> None:
        self.app = app
        self.cookie = ("cookie", cookie)

    @classmethod
    async def signed_in(cls, app: ASGIApp) -> Browser:
        """By the link that the server prints."""
        got = await ask(app, "GET", "/", [HOST], query=f"token={TOKEN}")
        cookie = got.header("set-cookie")
        assert got.status == 303
        assert cookie is not None
        return cls(app, cookie.partition(";")[0])

    async def get(self, address: str, *headers: tuple[str, str]) -> Got:
        path, _, query = address.partition("?")
        return await ask(self.app, "GET", path, [HOST, self.cookie, SAME, *headers], query=query)

    async def head(self, path: str) -> Got:
        return await ask(self.app, "HEAD", path, [HOST, self.cookie, SAME])

    async def post(
        self, path: str, fields: Mapping[str, str] | Sequence[tuple[str, str]] = (), *headers: tuple[str, str]
    ) -> Got:
        """A form that is sent without script; with ``HTMX`` as one that the page sends itself."""
        body = urlencode(fields).encode()
        return await ask(self.app, "POST", path, [HOST, self.cookie, SAME, FORM, *headers], body=[body])

    async def follow(self, got: Got) -> Got:
        """The page behind a redirect, and behind one that it leads to."""
        while got.status == 303:
            place = got.header("location")
            assert place is not None
            got = await self.get(place)
        return got

    async def load(self, address: str) -> LivePage:
        got = await self.get(address)
        assert got.status == 200, got.text
        return LivePage(got.text)

    @asynccontextmanager
    async def stream(self, address: str, last: str | None = None) -> AsyncIterator[Stream]:
        """An open stream of events; leaving the block cuts the line."""
        path, _, query = address.partition("?")
        headers = [HOST, self.cookie, SAME, *([("last-event-id", last)] if last else [])]
        stream = Stream()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream.run, self.app, path, query, headers)
            try:
                yield stream
            finally:
                stream.cut.set()


@dataclass
class Stream:
    """What has come over one connection."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""
    ended: anyio.Event = field(default_factory=anyio.Event)
    cut: anyio.Event = field(default_factory=anyio.Event)
    _news: anyio.Event = field(default_factory=anyio.Event)

    @property
    def messages(self) -> list[StreamMessage]:
        return read_messages(self.text)

    async def until(self, cursor: str) -> list[StreamMessage]:
        """All that came, once the frame of that number is there."""
        with anyio.fail_after(20):
            while not any(message.id == cursor for message in self.messages):
                await self._news.wait()
        return self.messages

    async def until_text(self, text: str) -> None:
        with anyio.fail_after(20):
            while text not in self.text:
                await self._news.wait()

    async def run(self, app: ASGIApp, path: str, query: str, headers: Sequence[tuple[str, str]]) -> None:
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if asked:
                await self.cut.wait()
                return {"type": "http.disconnect"}
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {key.decode(): value.decode() for key, value in message["headers"]}
            self.text += message.get("body", b"").decode()
            self._news.set()
            self._news = anyio.Event()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(key.encode(), value.encode()) for key, value in headers],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", PORT),
            "root_path": "",
        }
        await app(scope, receive, send)
        self.ended.set()


@dataclass
class Open:
    """One running application on one data folder."""

    bench: Workbench
    app: Page
    browser: Browser
    workspace: Path

    @property
    def site(self) -> Site:
        return self.app._site

    @property
    def routes(self) -> list[BaseRoute]:
        """What the application behind the gate serves."""
        inside = self.app._app
        assert isinstance(inside, Guard)
        assert isinstance(inside._app, Starlette)
        return list(inside._app.routes)

    def conversation(self) -> Room:
        """A new one, in the room where it is talked."""
        row = conversations.create_conversation(self.bench.store, workspace=str(self.workspace))
        self.bench.bus.changed(row.id)
        return self.bench.bus.room(row.id)

    def feed(self, room: Room) -> PageFeed:
        return self.site.feed(room)


@dataclass
class OpenByHand(Open):
    """The same with model and tool led by the test, on a clock that stands still."""

    hand: Hand
    model: ModelByHand
    clock: FakeClock


@asynccontextmanager
async def open_page(
    root: Path, *, model: ModelSource | None = None, clock: Clock | None = None, **environment: str
) -> AsyncIterator[Open]:
    """The application with the models of the environment and the store, or with this one."""
    workspace = root / "work"
    workspace.mkdir(parents=True, exist_ok=True)
    watch = (lambda models, _: models) if model is None else (lambda _, __: model)
    environment = {"PLANCIA_WORKSPACE": str(workspace), **environment}
    folder = DataFolder(root / "data")
    async with open_workbench(folder, environment=environment, clock=clock, watch=watch) as bench:
        app = create_app(bench, ServerSettings("127.0.0.1", PORT, TOKEN))
        yield Open(bench, app, await Browser.signed_in(app), workspace)
        app.goodbye()


@asynccontextmanager
async def open_by_hand(root: Path) -> AsyncIterator[OpenByHand]:
    workspace = root / "work"
    workspace.mkdir(parents=True, exist_ok=True)
    clock, hand = FakeClock(), Hand()
    model = ModelByHand(hand)
    environment = {"PLANCIA_WORKSPACE": str(workspace)}
    async with open_cabinet(DataFolder(root / "data"), environment=environment, clock=clock) as base:
        machine = unconfined(base.folder, clock)
        members = MembersByHand(base.store, base.folder, Harness(model, clock, new_id, lambda: 0.5), machine)
        members.hand = hand
        async with anyio.create_task_group() as tasks:
            bus = Bus(base.store, members, partial(_start, tasks))
            recovered = await bus.recover()
            bench = Workbench(
                base.folder,
                base.store,
                base.secrets,
                base.sources,
                environment,
                base.logins,
                bus,
                machine,
                recovered,
            )
            app = create_app(bench, ServerSettings("127.0.0.1", PORT, TOKEN))
            browser = await Browser.signed_in(app)
            yield OpenByHand(bench, app, browser, workspace, hand, model, clock)
            app.goodbye()
            await bus.stop_all()


def _start(tasks: TaskGroup, work: object) -> None:
    tasks.start_soon(work)  # type: ignore[arg-type]
