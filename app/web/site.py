"""What every handler works with: the store, the bus, the templates, and one page feed for each open conversation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.group_chat.bus import Bus
from app.group_chat.room import Room
from app.hands.machine import Machine
from app.infra.paths import DataFolder
from app.infra.secrets import SecretStore
from app.providers.logins import Logins
from app.providers.routing import Sources
from app.web.drawing import Drawing
from app.web.held_keys import HeldKeys
from app.web.login_attempts import LoginAttempts
from app.web.page_feed import PageFeed
from app.web.page_views import Toast
from app.web.rendering import Templates
from app.web.scene import Scenes
from app.workspace.agents import find_agent
from app.workspace.store import Store

LoadPicture = Callable[[str], tuple[str, bytes] | None]
"""Media type and bytes of a kept picture, by its reference; None where there is none."""

LoadResult = Callable[[str, str], str]
"""A large result of a conversation, by its reference. Raises ``Refused`` where there is none."""

FEEDS_KEPT = 32
"""Page feeds that stay in memory after their last use, so that a page finds its place in the stream again."""


class Site:
    """One running server, as its handlers see it."""

    def __init__(
        self,
        *,
        store: Store,
        bus: Bus,
        sources: Sources,
        secrets: SecretStore,
        logins: Logins,
        folder: DataFolder,
        machine: Machine,
        templates: Templates,
        environment: Mapping[str, str],
        workspace: Callable[[], Path],
        load_picture: LoadPicture,
        load_result: LoadResult,
        address: str,
    ) -> None:
        self.store = store
        self.bus = bus
        self.sources = sources
        self.secrets = secrets
        self.logins = logins
        self.folder = folder
        self.machine = machine
        self.attempts = LoginAttempts(logins)
        self.templates = templates
        self.environment = environment
        self.workspace = workspace
        """The folder of a new conversation. Raises ``WorkspaceError``."""
        self.load_picture = load_picture
        self.load_result = load_result
        self.held_keys = HeldKeys(store.clock, lambda: store.new_id("held"))
        self.scenes = Scenes(store, bus, sources, machine, address, partial(find_agent, folder))
        self.drawing = Drawing(templates, self.scenes)
        self.is_closing = False
        """The server is about to end."""
        self._feeds: WeakValueDictionary[str, PageFeed] = WeakValueDictionary()
        self._recent: deque[PageFeed] = deque(maxlen=FEEDS_KEPT)

    def feed(self, room: Room) -> PageFeed:
        """The frames of a room's pages: the same object for every reader of one room."""
        feed = self._feeds.get(room.id)
        if feed is None:
            feed = PageFeed(room, self.bus, self.drawing, self.store.new_id("page"))
            self._feeds[room.id] = feed
        if not self._recent or self._recent[-1] is not feed:
            self._recent.append(feed)
        return feed

    def settings_changed(self) -> None:
        """Models, agents or habits are others: open pages show what there is to choose from now."""
        for feed in list(self._feeds.values()):
            feed.redraw()

    def close_streams(self) -> None:
        """The server is about to end: every open stream says goodbye, and nobody comes back from a login."""
        self.is_closing = True
        for feed in list(self._feeds.values()):
            feed.feed.close()
        self.attempts.close()

    def page(self, name: str, *, status: int = 200, toast: Toast | None = None, **values: Any) -> Response:
        return HTMLResponse(self.templates.render(name, toast=toast, **values), status_code=status)


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def is_htmx(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


def done(request: Request, to: str) -> Response:
    """The answer to a form: nothing for a page that follows the stream, else back to where it stood."""
    return Response(status_code=204) if is_htmx(request) else RedirectResponse(to, status_code=303)


def onward(request: Request, to: str) -> Response:
    """The answer to a form after which another page is shown."""
    if is_htmx(request):
        return Response(status_code=204, headers={"HX-Redirect": to})
    return RedirectResponse(to, status_code=303)
