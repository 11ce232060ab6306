"""create_app(): the page of one open workbench, as an ASGI application."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette

from app.infra.paths import asset_root
from app.web.assets import Assets
from app.web.errors import error_handlers
from app.web.guards import Guards, GuardSettings
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


def create_app(bench: Workbench, settings: ServerSettings) -> Starlette:
    assets = Assets(asset_root("static"))
    templates = Templates(asset_root("templates"), assets)
    app = Starlette(routes=routes(assets), exception_handlers=error_handlers(templates))
    app.state.site = Site(
        store=bench.store,
        bus=bench.bus,
        sources=bench.sources,
        secrets=bench.secrets,
        templates=templates,
        environment=bench.environment,
        workspace=lambda: bench.workspace(settings.workspace),
        address=f"{settings.host}:{settings.port}",
    )
    return app
