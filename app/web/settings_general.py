"""Settings, general: how the message box behaves, where new conversations work, and the keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.web.folders import chosen_folder
from app.web.forms import read_form
from app.web.page_views import Toast
from app.web.site import Site, site_of
from app.web.toasts import saved
from app.workbench import folder_to_be
from app.workspace.errors import WorkspaceError
from app.workspace.settings import get_setting, set_setting


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of this page as they are, or as they were typed; ``error`` is about the folder."""

    enter: str
    workspace: str
    error: str = ""


async def page(request: Request) -> Response:
    site = site_of(request)
    stored = Chosen(
        str(get_setting(site.store, "composer.enter")), str(get_setting(site.store, "workspace.default"))
    )
    return _page(site, stored, toast=saved(request))


async def change(request: Request) -> Response:
    """Raises ``SettingError`` for a value that the setting does not take. What is not sent stays as it is."""
    site, form = site_of(request), await read_form(request)
    typed = Chosen(form.text("composer.enter"), form.text("workspace.default"))
    if typed.workspace:
        try:
            chosen_folder(typed.workspace)
        except WorkspaceError as error:
            return _page(site, Chosen(typed.enter, typed.workspace, str(error)), status=422)
    if typed.enter:
        set_setting(site.store, "composer.enter", typed.enter)
    if "workspace.default" in form.data:
        set_setting(site.store, "workspace.default", typed.workspace)
    site.settings_changed()
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
