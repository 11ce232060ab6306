"""Settings, general: how the message box behaves, and the keys."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.web.forms import read_form
from app.web.site import site_of
from app.web.toasts import saved
from app.workspace.settings import get_setting, set_setting

ON_THIS_PAGE = ("composer.enter",)


async def page(request: Request) -> Response:
    site = site_of(request)
    return site.page(
        "settings/general.html",
        enter=get_setting(site.store, "composer.enter"),
        toast=saved(request),
        **site.scenes.shell(screen="settings"),
    )


async def change(request: Request) -> Response:
    """Raises ``SettingError`` for a value that the setting does not take."""
    site, form = site_of(request), await read_form(request)
    for key in ON_THIS_PAGE:
        if value := form.text(key):
            set_setting(site.store, key, value)
    site.settings_changed()
    return RedirectResponse("/settings?saved", status_code=303)
