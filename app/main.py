"""create_app(): the page of one open workbench, as an ASGI application."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from app.hands.pictures import load_picture
from app.hands.results import load_result
from app.infra.addresses import names_of
from app.infra.page_key import load_page_key
from app.infra.paths import asset_root
from app.web.answers import Refusals
from app.web.assets import Assets
from app.web.failures import exception_handlers
from app.web.guards import Guard, HostCheck, TokenCheck
from app.web.rendering import Templates
from app.web.routes import routes
from app.web.site import Site
from app.workbench import Workbench


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the page is served: ``port`` is the real one, ``token`` lets a browser in."""

    host: str
    port: int
    token: str
    workspace: Path | None = None
    """The folder of new conversations, where one was named at start."""


class Page:
    """An ASGI application: the guard, and behind it the site."""

    def __init__(self, site: Site, app: ASGIApp) -> None:
        self._site = site
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def goodbye(self) -> None:
        """End every open stream: the server is about to stop."""
        self._site.close_streams()


def create_app(bench: Workbench, settings: ServerSettings) -> Page:
    """The page of an open workbench. Raises ``DataFolderError`` where the browser's key cannot be kept."""
    assets = Assets(asset_root("static"))
    templates = Templates(asset_root("templates"), assets)
    site = Site(
        store=bench.store,
        bus=bench.bus,
        sources=bench.sources,
        secrets=bench.secrets,
        logins=bench.logins,
        folder=bench.folder,
        machine=bench.machine,
        templates=templates,
        environment=bench.environment,
        workspace=lambda: bench.workspace(settings.workspace),
        load_picture=partial(load_picture, bench.folder.root),
        load_result=partial(load_result, bench.folder.results),
        address=f"{settings.host}:{settings.port}",
    )
    app = Starlette(routes=routes(assets), exception_handlers=exception_handlers(templates))
    app.state.site = site
    key = load_page_key(bench.folder)
    door = TokenCheck(settings.token, key.session, key.instance, bench.store.clock)
    hosts = HostCheck(settings.port, names_of(settings.host))
    return Page(site, Guard(app, hosts=hosts, door=door, refusals=Refusals(templates)))
