"""Settings, general: how the message box behaves, where new conversations work, what they may cost, and the keys."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.web.page_views import Toast
from app.web.setting_form import stored_settings, submit_settings
from app.web.settings_views import Chosen
from app.web.site import Site, site_of
from app.web.toasts import saved
from app.workspace.errors import WorkspaceError
from app.workspace.folders import folder_to_be
from app.workspace.settings import get_setting

MAY_BE_EMPTY = ("workspace.default", "budget.conversation", "budget.day")
KEYS = ("composer.enter", "budget.unknown", *MAY_BE_EMPTY)


async def page(request: Request) -> Response:
    site = site_of(request)
    return _page(site, stored_settings(site, KEYS), toast=saved(request))


async def change(request: Request) -> Response:
    """Where a value is not taken, nothing is stored and the field says why."""
    refused = await submit_settings(request, KEYS, MAY_BE_EMPTY)
    if refused:
        return _page(site_of(request), refused, status=422)
    return RedirectResponse("/settings?saved", status_code=303)


def _page(site: Site, chosen: Chosen, *, toast: Toast | None = None, status: int = 200) -> Response:
    return site.page(
        "settings/general.html",
        status=status,
        toast=toast,
        chosen=chosen,
        instead=_instead(site),
        **site.scenes.shell(screen="settings"),
    )


def _instead(site: Site) -> str:
    """The folder that this start was given, which goes before the setting; empty where it was given none."""
    chosen = Path(str(get_setting(site.store, "workspace.default")) or "~/Plancia")
    try:
        given = site.workspace()
        return "" if given == folder_to_be(chosen) else str(given)
    except WorkspaceError:
        return ""
