"""The first run on one page: a model, the folder, a first task."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from app.providers.detection import find_servers
from app.web.conversations import way_back
from app.web.settings_models import found_views
from app.web.settings_views import KINDS, SourceForm
from app.web.site import site_of


async def page(request: Request) -> Response:
    site = site_of(request)
    chosen = site.scenes.default_model()
    found = () if chosen.ready else found_views(site, await find_servers(site.environment))
    return site.page(
        "welcome/page.html",
        ready=f"{chosen.label} answers." if chosen.ready else "",
        found=found,
        form=SourceForm(),
        kinds=KINDS,
        workspace=str(site.workspace()),
        toast=way_back(request),
        **site.scenes.shell(),
    )
