"""Settings, models: the sources in their order, adding one by a form or by what is found on this computer, Test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck
from app.infra.errors import InfraError, SecretsError
from app.providers.detection import find_servers
from app.providers.sources import SourceConfig, SourceKind, from_environment
from app.web import welcome
from app.web.forms import Form, read_form
from app.web.found_servers import found_views
from app.web.page_views import Toast
from app.web.settings_views import KINDS, FoundView, SourceForm, SourceView, Tested
from app.web.site import Site, onward, site_of
from app.web.toasts import saved
from app.workspace.errors import InvalidSource
from app.workspace.model_sources import list_sources, load_source, order_models
from app.workspace.source_checks import checked
from app.workspace.source_keys import (
    add_source_with_keys,
    checked_key,
    refuse_known,
    remove_source_with_keys,
)

FIELDS = ("kind", "name", "base_url", "models", "plain_http_confirmed")
"""What a form that comes back still holds; a key is typed anew."""

MODELS_ADOPTED = 200
"""Of a server that lists more, no more stand in the picker."""

_FIRST = {"kind": "openai"}


async def page(request: Request) -> Response:
    return _page(site_of(request), toast=saved(request))


async def find(request: Request) -> Response:
    """Ask the known ports of this machine, because the user said so."""
    site = site_of(request)
    return _page(site, found=found_views(site, await find_servers(site.environment)))


async def add(request: Request) -> Response:
    """Save or test what the form describes; what is wrong stands beside what was typed."""
    site, form = site_of(request), await read_form(request)
    back = welcome.HERE if form.text("back") == welcome.HERE else ""
    typed = SourceForm({**{name: form.text(name) for name in FIELDS}, **_variable(form, site)}, back=back)
    confirmed = form.text("plain_http_confirmed") == "yes"
    try:
        source = checked(_source(form), plain_http_confirmed=confirmed)
        keys = _keys(form, site.environment)
        if form.text("act") == "test":
            return await _again(site, replace(typed, tested=_tested(await _try_out(site, source, keys))))
        refuse_known(site.store, source.name)
        named = await _with_models(site, source, keys)
        add_source_with_keys(site.store, site.secrets, named, keys, plain_http_confirmed=confirmed)
    except (InvalidSource, InfraError) as error:
        field = getattr(error, "field", "")
        return await _again(site, replace(typed, errors={field: str(error)}), status=422)
    site.settings_changed()
    return RedirectResponse(back or "/settings/models?saved", status_code=303)


async def _again(site: Site, form: SourceForm, *, status: int = 200) -> Response:
    """The page that the form stands on, with the form as it was filled in."""
    if form.back:
        return await welcome.show(site, form=form, status=status)
    return _page(site, form=form, status=status)


async def act(request: Request) -> Response:
    """One act on one source: test, up, down, remove."""
    site, name = site_of(request), request.path_params["name"]
    match request.path_params["act"]:
        case "test":
            return _page(site, tested={name: await _test(site, name)})
        case "remove":
            remove_source_with_keys(site.store, site.secrets, name)
        case "up":
            _move(site, name, -1)
        case "down":
            _move(site, name, 1)
        case _:
            raise HTTPException(404)
    site.settings_changed()
    return onward(request, "/settings/models")


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
        form=form or SourceForm(_FIRST),
        kinds=KINDS,
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
            name=source.name,
            kind=dict(KINDS)[source.kind],
            where=source.base_url or _where(source),
            models=source.models or source.usual_models,
            own=source.name in names,
            first=place == 0,
            last=place == len(own) - 1,
            tested=tested.get(source.name),
        )
        for place, source in enumerate([*own, *others])
    ]


def _where(source: SourceConfig) -> str:
    if source.origin == "environment" and source.keys:
        return f"key from {source.keys[0]}"
    return "key kept here" if source.keys else ""


def _source(form: Form) -> SourceConfig:
    models = tuple(dict.fromkeys(name.strip() for name in form.text("models").split(",") if name.strip()))
    # What is not one of the kinds is refused, in words, by the check of the workspace.
    kind = cast(SourceKind, form.text("kind"))
    return SourceConfig(form.text("name"), kind, form.text("base_url") or None, models)


def _variable(form: Form, site: Site) -> Mapping[str, str]:
    """The name of the variable where it is one: a key that was typed in its place is not shown again."""
    name = form.text("key_env")
    return {"key_env": name} if site.environment.get(name, "").strip() else {}


def _keys(form: Form, environment: Mapping[str, str]) -> list[str]:
    """The key that was typed, or that a variable holds. Raises ``InvalidSource``; the text has no key."""
    keys = [checked_key(_unquoted(form.text("key")))] if form.text("key") else []
    if variable := form.text("key_env"):
        value = environment.get(variable, "").strip()
        if not value:
            raise InvalidSource(
                "No variable of this name is set where Plancia was started. Set it and start Plancia again, or type"
                " the key in its field.",
                "key_env",
            )
        keys.append(checked_key(_unquoted(value)))
    return keys


def _unquoted(key: str) -> str:
    """Without the quotes that stood around it where it was copied from."""
    return key[1:-1] if len(key) > 1 and key[0] == key[-1] and key[0] in "\"'" else key


async def _with_models(site: Site, source: SourceConfig, keys: list[str]) -> SourceConfig:
    """The source with its server's own list where no model was named. Raises ``InvalidSource`` where it has none."""
    if source.usual_models:
        return source
    check = await _try_out(site, source, keys)
    if not check.models:
        said = check.message if not check.ok else f"{source.name} lists no models."
        raise InvalidSource(f"{said} To save it all the same, name its models here.", "models")
    # A model that only embeds cannot answer: it comes last, so that it is nobody's default.
    listed = sorted(check.models[:MODELS_ADOPTED], key=lambda model: "embed" in model.lower())
    return replace(source, models=tuple(listed))


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
    return _tested(await provider.validate_auth())


async def _try_out(site: Site, source: SourceConfig, keys: list[str]) -> AuthCheck:
    """The same before it is saved: nothing of it is stored."""
    try:
        provider = site.sources.try_out(source, keys[0] if keys else None)
    except ProviderError as error:
        return AuthCheck(False, error.message)
    return await provider.validate_auth()


def _tested(check: AuthCheck) -> Tested:
    return Tested(check.ok, check.message)


def _move(site: Site, name: str, step: int) -> None:
    names = [source.name for source in list_sources(site.store)]
    load_source(site.store, name)
    at = names.index(name)
    names.insert(max(0, at + step), names.pop(at))
    order_models(site.store, names)
