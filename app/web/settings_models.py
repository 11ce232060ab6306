"""Settings, models: the sources in their order, what is found on this computer, and the form that adds or edits one."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.engine.errors import ProviderError
from app.infra.errors import SecretsError
from app.providers.detection import find_servers
from app.providers.sources import SourceConfig, from_environment
from app.providers.wires import loads_litellm
from app.web.found_servers import found_views
from app.web.page_views import Toast
from app.web.settings_views import KINDS, FoundView, SourceForm, SourceView, Tested, kinds
from app.web.site import Site, is_htmx, onward, site_of
from app.web.source_form import blank_form, filled_form, fragment, submit
from app.web.toasts import saved
from app.workspace.model_sources import list_sources, load_source, order_models
from app.workspace.source_keys import remove_source_with_keys

HERE = "/settings/models"


async def page(request: Request) -> Response:
    return _page(site_of(request), toast=saved(request))


async def find(request: Request) -> Response:
    """Ask the known ports of this machine, because the user said so."""
    site = site_of(request)
    return _page(site, found=found_views(site, await find_servers(site.environment)))


async def add(request: Request) -> Response:
    """Save or test what the form describes; what is wrong stands beside what was typed."""
    site, form = site_of(request), await submit(request, blank_form(HERE))
    if form is None:
        return onward(request, f"{HERE}?saved")
    return fragment(site, form) if is_htmx(request) else _page(site, form=form, status=form.status)


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
    """One act on one source: test, up, down, remove."""
    site, name = site_of(request), request.path_params["name"]
    match request.path_params["act"]:
        case "test":
            return await _tested(request, site, name)
        case "remove":
            remove_source_with_keys(site.store, site.secrets, name)
        case "up":
            _move(site, name, -1)
        case "down":
            _move(site, name, 1)
        case _:
            raise HTTPException(404)
    site.settings_changed()
    return onward(request, HERE)


def _page(
    site: Site,
    *,
    form: SourceForm | None = None,
    found: tuple[FoundView, ...] | None = None,
    tested: Mapping[str, Tested] = {},
    toast: Toast | None = None,
    status: int = 200,
) -> Response:
    return site.page(
        "settings/models.html",
        status=status,
        toast=toast,
        sources=_views(site, tested),
        found=found,
        form=form or blank_form(HERE),
        kinds=kinds(),
        secrets_where=_keys_lie(site),
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


def _views(site: Site, tested: Mapping[str, Tested]) -> list[SourceView]:
    own = list_sources(site.store)
    names = {source.name for source in own}
    others = [source for source in from_environment(site.environment) if source.name not in names]
    return [
        SourceView(
            rank=place,
            name=source.name,
            kind=dict(KINDS)[source.kind],
            address=source.base_url or "",
            key=_key(source),
            models=source.models or source.usual_models,
            own=source.name in names,
            last=place == len(own),
            loads=loads_litellm(source.kind),
            tested=tested.get(source.name),
        )
        for place, source in enumerate([*own, *others], start=1)
    ]


def _key(source: SourceConfig) -> str:
    if source.origin == "environment":
        return f"key from {source.keys[0]}" if source.keys else ""
    return {0: "", 1: "key kept here"}.get(len(source.keys), f"{len(source.keys)} keys kept here")


async def _tested(request: Request, site: Site, name: str) -> Response:
    """The page with what came of the test, or the row of it for a page that puts that in place."""
    tested = {name: await _test(site, name)}
    if not is_htmx(request):
        return _page(site, tested=tested)
    rows = [view for view in _views(site, tested) if view.name == name]
    return site.page("settings/source_row.html", source=rows[0]) if rows else onward(request, HERE)


async def _test(site: Site, name: str) -> Tested:
    """What the server of a source says to its key."""
    own = {source.name: source for source in list_sources(site.store)}
    source = own.get(name) or {each.name: each for each in from_environment(site.environment)}.get(name)
    if source is None:
        source = load_source(site.store, name)
    models = source.models or source.usual_models
    try:
        provider = site.sources.resolve(f"{name}/{models[0] if models else 'any'}").provider
    except ProviderError as error:
        return Tested(False, error.message)
    check = await provider.validate_auth()
    return Tested(check.ok, check.message)


def _move(site: Site, name: str, step: int) -> None:
    names = [source.name for source in list_sources(site.store)]
    load_source(site.store, name)
    at = names.index(name)
    names.insert(max(0, at + step), names.pop(at))
    order_models(site.store, names)
