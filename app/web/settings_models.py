"""Settings, models: their order, the sources with their keys, the form of one source, and how all are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.engine.errors import ProviderError
from app.infra.errors import SecretsError
from app.providers.detection import find_servers
from app.web import model_rows
from app.web.forms import read_form
from app.web.found_servers import found_views
from app.web.model_words import result_of
from app.web.page_views import Toast
from app.web.setting_form import checked_settings, submit_settings
from app.web.settings_order import UNCHANGED, Ordered, change_order, order_values
from app.web.settings_views import Chosen, FoundView, SourceForm, SourceView, Tested, kinds
from app.web.site import Site, is_htmx, onward, site_of
from app.web.source_form import blank_form, filled_form, fragment, submit, unquoted
from app.web.toasts import saved
from app.workspace.errors import InvalidSource
from app.workspace.model_sources import load_source
from app.workspace.source_keys import add_key, remove_key, remove_source_with_keys

HERE = "/settings/models"

ASKED_WITH = ("model.reasoning", "model.auxiliary", "image.model")
MAY_BE_EMPTY = ("model.auxiliary", "image.model")
"""The settings that count for every model, and those of them that a user types."""


async def page(request: Request) -> Response:
    return await show(site_of(request), toast=saved(request))


async def find(request: Request) -> Response:
    """Ask the known ports of this machine, because the user said so."""
    site = site_of(request)
    return await show(site, found=found_views(site, await find_servers(site.environment)))


async def add(request: Request) -> Response:
    """Save or test what the form describes; what is wrong stands beside what was typed."""
    site, form = site_of(request), await submit(request, blank_form(HERE))
    if form is None:
        return onward(request, f"{HERE}?saved")
    return fragment(site, form) if is_htmx(request) else await show(site, form=form, status=form.status)


async def order(request: Request) -> Response:
    """One act on the order, see ``change_order``; a page with script gets the order alone."""
    site = site_of(request)
    ordered = await change_order(site, await read_form(request))
    if is_htmx(request):
        return site.page("settings/order.html", **order_values(site, ordered))
    return await show(site, ordered=ordered) if ordered.tested else onward(request, f"{HERE}#order")


async def asking(request: Request) -> Response:
    """How every model is asked; where a value is not taken, nothing is stored and the field says why."""
    refused = await submit_settings(request, ASKED_WITH, MAY_BE_EMPTY)
    if refused:
        return await show(site_of(request), chosen=refused, status=422)
    return RedirectResponse(f"{HERE}?saved#asking", status_code=303)


async def edit_page(request: Request) -> Response:
    site = site_of(request)
    source = load_source(site.store, request.path_params["name"])
    return _edit_page(site, filled_form(request.url.path, source))


async def edit(request: Request) -> Response:
    """As ``add``, for a source that is there: a key that is left empty stays as it is."""
    site = site_of(request)
    source = load_source(site.store, request.path_params["name"])
    form = await submit(request, filled_form(request.url.path, source), source)
    if form is None:
        return onward(request, f"{HERE}?saved")
    return fragment(site, form) if is_htmx(request) else _edit_page(site, form)


async def act(request: Request) -> Response:
    """One act on one source: test, add a key, remove a key, remove the source."""
    site, name = site_of(request), request.path_params["name"]
    match request.path_params["act"]:
        case "test":
            return await _row(request, name, tested={name: await _test(site, name)})
        case "key":
            return await _add_key(request, site, name)
        case "forget":
            remove_key(site.store, site.secrets, name, (await read_form(request)).text("key"))
            return await _row(request, name)
        case "remove":
            remove_source_with_keys(site.store, site.secrets, name)
            site.settings_changed()
            return onward(request, HERE)
        case _:
            raise HTTPException(404)


async def show(
    site: Site,
    *,
    form: SourceForm | None = None,
    found: tuple[FoundView, ...] | None = None,
    tested: Mapping[str, Tested] = {},
    errors: Mapping[str, str] = {},
    ordered: Ordered = UNCHANGED,
    chosen: Chosen | None = None,
    toast: Toast | None = None,
    status: int = 200,
) -> Response:
    """The page; ``tested`` and ``errors`` are of sources."""
    return site.page(
        "settings/models.html",
        status=status,
        toast=toast,
        sources=await _sources(site, tested, errors),
        found=found,
        form=form or blank_form(HERE),
        kinds=kinds(),
        secrets_where=_keys_lie(site),
        chosen=chosen or await checked_settings(site, ASKED_WITH),
        thinkers=model_rows.thinkers(site),
        offered=[each.label for each in site.sources.choices() if each.origin != "demo"],
        **order_values(site, ordered),
        **site.scenes.shell(screen="settings"),
    )


def _edit_page(site: Site, form: SourceForm) -> Response:
    return site.page(
        "settings/source.html",
        status=form.status,
        form=form,
        kinds=kinds(),
        secrets_where=_keys_lie(site),
        **site.scenes.shell(screen="settings"),
    )


def _keys_lie(site: Site) -> str:
    """Where keys are kept, or why those that were cannot be read: the form takes them again."""
    try:
        return site.secrets.where
    except SecretsError as error:
        return str(error)


async def _row(
    request: Request,
    name: str,
    *,
    tested: Mapping[str, Tested] = {},
    errors: Mapping[str, str] = {},
    took_key: bool = False,
) -> Response:
    """The page, or the row of one source for a page that puts that in place."""
    site = site_of(request)
    if not is_htmx(request):
        return await show(site, tested=tested, errors=errors, status=422 if errors else 200)
    rows = [view for view in await _sources(site, tested, errors) if view.name == name]
    if not rows:
        return onward(request, HERE)
    return site.page("settings/source_row.html", source=replace(rows[0], took_key=took_key))


async def _sources(site: Site, tested: Mapping[str, Tested], errors: Mapping[str, str]) -> list[SourceView]:
    endings = await run_sync(model_rows.read_endings, site, abandon_on_cancel=True)
    return model_rows.source_views(site, endings, tested, errors)


async def _test(site: Site, name: str) -> Tested:
    """What the server of a source says to its keys; one that passes is awake again."""
    found = {source.name: source for source in model_rows.all_sources(site)}
    source = found.get(name) or load_source(site.store, name)
    try:
        provider = site.sources.try_out(source, None)
    except ProviderError as error:
        return Tested(False, error.message)
    return result_of(await provider.validate_auth())


async def _add_key(request: Request, site: Site, name: str) -> Response:
    typed = unquoted((await read_form(request)).text("key"))
    try:
        add_key(site.store, site.secrets, name, typed)
    except (InvalidSource, SecretsError) as error:
        return await _row(request, name, errors={name: str(error)})
    return await _row(request, name, took_key=True)
