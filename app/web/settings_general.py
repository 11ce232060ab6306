"""Settings, general: how the message box behaves, where new conversations work, what they may cost, and the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.infra.settings import SettingError, parse, written
from app.web.folders import chosen_folder
from app.web.forms import read_form
from app.web.page_views import Toast
from app.web.site import Site, site_of
from app.web.toasts import saved
from app.workbench import folder_to_be
from app.workspace.errors import WorkspaceError
from app.workspace.settings import get_setting, set_setting

MAY_BE_EMPTY = ("workspace.default", "budget.conversation", "budget.day")
KEYS = ("composer.enter", "budget.unknown", *MAY_BE_EMPTY)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of this page as they are, or as they were typed; ``errors`` by setting."""

    values: Mapping[str, str]
    errors: Mapping[str, str] = field(default_factory=dict)

    def value(self, key: str) -> str:
        return self.values.get(key, "")

    def error(self, key: str) -> str:
        return self.errors.get(key, "")


async def page(request: Request) -> Response:
    site = site_of(request)
    stored = {key: written(get_setting(site.store, key)) for key in KEYS}
    return _page(site, Chosen(stored), toast=saved(request))


async def change(request: Request) -> Response:
    """What is not sent stays as it is. Where a value is not taken, nothing is stored and the field says why.

    Raises ``SettingError`` for a choice that no page offers.
    """
    site, form = site_of(request), await read_form(request)
    sent = {
        key: form.text(key) for key in KEYS if key in form.data and (form.text(key) or key in MAY_BE_EMPTY)
    }
    errors = dict(_refusals(sent))
    if errors:
        stored = {key: written(get_setting(site.store, key)) for key in KEYS}
        return _page(site, Chosen({**stored, **sent}, errors), status=422)
    for key, text in sent.items():
        set_setting(site.store, key, text)
    site.settings_changed()
    return RedirectResponse("/settings?saved", status_code=303)


def _refusals(sent: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Why a value is not taken, by setting."""
    for key, text in sent.items():
        try:
            parse(key, text)
            if key == "workspace.default" and text:
                chosen_folder(text)
        except (SettingError, WorkspaceError) as error:
            if key not in MAY_BE_EMPTY:
                raise
            yield key, str(error)


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
