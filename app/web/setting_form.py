"""Settings in a form: as they are stored, or as they were typed with what is wrong beside its field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from anyio.to_thread import run_sync
from starlette.requests import Request

from app.infra.settings import SettingError, written
from app.providers.routing import Sources
from app.web.forms import read_form
from app.web.settings_views import Chosen
from app.web.site import Site, site_of
from app.workspace.errors import WorkspaceError
from app.workspace.setting_checks import checked_setting
from app.workspace.settings import get_setting, set_setting


def stored_settings(site: Site, keys: Collection[str]) -> Chosen:
    return Chosen({key: written(get_setting(site.store, key)) for key in keys})


async def checked_settings(site: Site, keys: Collection[str]) -> Chosen:
    """As stored, with what is wrong by now: what a setting names may be gone."""
    stored = stored_settings(site, keys)
    errors = await run_sync(partial(_refusals, stored.values, keys, site.sources), abandon_on_cancel=True)
    return replace(stored, errors=errors)


async def submit_settings(
    request: Request, keys: Collection[str], may_be_empty: Collection[str]
) -> Chosen | None:
    """Store what was sent of ``keys``; what is not sent stays as it is. None where all is stored, else nothing is.

    Raises ``SettingError`` for a choice that no page offers.
    """
    site, form = site_of(request), await read_form(request)
    sent = {
        key: form.text(key) for key in keys if key in form.data and (form.text(key) or key in may_be_empty)
    }
    if errors := await run_sync(partial(_refusals, sent, may_be_empty, site.sources)):
        return Chosen({**stored_settings(site, keys).values, **sent}, errors)
    for key, text in sent.items():
        set_setting(site.store, key, text)
    site.settings_changed()
    return None


def _refusals(sent: Mapping[str, str], typed: Collection[str], models: Sources) -> dict[str, str]:
    """Why a value is not taken, by setting; those that are ``typed`` can be typed otherwise. In a thread."""
    refused = {}
    for key, text in sent.items():
        try:
            checked_setting(key, text, models)
        except (SettingError, WorkspaceError) as error:
            if key not in typed:
                raise
            refused[key] = str(error)
    return refused
