"""The first run on one page: a model, the folder, a first task."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from app.providers.detection import find_servers
from app.web.found_servers import found_views
from app.web.page_views import Toast
from app.web.settings_views import SourceForm, kinds
from app.web.site import Site, is_htmx, onward, site_of
from app.web.source_form import blank_form, fragment, submit
from app.web.toasts import way_back
from app.workspace.errors import WorkspaceError

HERE = "/welcome"
FIRST_TASK = "Show me around"


@dataclass(frozen=True, slots=True)
class FirstTask:
    """The form that makes the first conversation; ``error`` says what is wrong with the folder."""

    workspace: str
    text: str = FIRST_TASK
    error: str = ""


async def page(request: Request) -> Response:
    return await show(site_of(request), toast=way_back(request))


async def add(request: Request) -> Response:
    """Save or test a source without leaving the guide."""
    site, form = site_of(request), await submit(request, blank_form(HERE))
    if form is None:
        return onward(request, HERE)
    return fragment(site, form) if is_htmx(request) else await show(site, form=form, status=form.status)


async def show(
    site: Site,
    *,
    form: SourceForm | None = None,
    task: FirstTask | None = None,
    toast: Toast | None = None,
    status: int = 200,
) -> Response:
    """The guide, with what was typed into its forms and what is wrong with it."""
    chosen = site.scenes.default_model()
    found = () if chosen.ready else found_views(site, await find_servers(site.environment))
    return site.page(
        "welcome/page.html",
        status=status,
        toast=toast,
        ready=f"{chosen.label} is set up." if chosen.ready else "",
        found=found,
        form=form or blank_form(HERE),
        kinds=kinds(),
        task=task or _usual_task(site),
        **site.scenes.shell(),
    )


def _usual_task(site: Site) -> FirstTask:
    try:
        return FirstTask(str(site.workspace()))
    except WorkspaceError as error:
        return FirstTask("", error=str(error))
