"""The form of one model source: read, tried out, stored. What comes back holds all that was typed but a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck
from app.infra.errors import InfraError
from app.providers.sources import SourceConfig, SourceKind
from app.web.forms import Form, read_form
from app.web.model_words import result_of
from app.web.settings_views import SourceForm, kinds
from app.web.site import Site, is_htmx, site_of
from app.workspace.errors import InvalidSource
from app.workspace.source_checks import checked
from app.workspace.source_keys import (
    add_source_with_keys,
    change_source_with_keys,
    checked_key,
    refuse_known,
)

FIELDS = ("kind", "name", "base_url", "models", "plain_http_confirmed", "forget_key")

MODELS_ADOPTED = 200
"""Of a server that lists more, no more stand in the picker."""

_BESIDE = {"auth": "key", "unreachable": "base_url", "timeout": "base_url", "local": "base_url"}
"""The field that a failed test is about, by its kind."""


def blank_form(action: str) -> SourceForm:
    return SourceForm(action, {"kind": "openai"})


def filled_form(action: str, source: SourceConfig) -> SourceForm:
    """The form of a source that is there already; its name stays, for conversations know it by that."""
    values = {"kind": source.kind, "base_url": source.base_url or "", "models": ", ".join(source.models)}
    return SourceForm(action, values, edited=source.name, stored_keys=len(source.keys))


async def submit(request: Request, form: SourceForm, old: SourceConfig | None = None) -> SourceForm | None:
    """Do what Save or Test asks of the source that was typed into ``form``; ``old`` is what it was so far.

    Returns the form with what came of it, or None where the source is stored.
    """
    site, sent = site_of(request), await read_form(request)
    typed = replace(form, values={**{name: sent.text(name) for name in FIELDS}, **_variable(sent, site)})
    confirmed = sent.text("plain_http_confirmed") == "yes"
    try:
        typed = replace(typed, held=_held(request, sent, site))
        source = checked(_source(sent, old), plain_http_confirmed=confirmed)
        keys = _keys(sent, site, source, old)
        if keys is None and old is not None:
            source = replace(source, keys=old.keys)
        if sent.text("act") == "test":
            check = await _try_out(site, source, keys)
            return replace(typed, tested=result_of(check, *source.models))
        if old is None:
            refuse_known(site.store, source.name)
        named = await with_models(site, source, keys)
        if old is None:
            add_source_with_keys(
                site.store,
                site.secrets,
                named,
                keys or [],
                in_order=source.models,
                plain_http_confirmed=confirmed,
            )
        else:
            change_source_with_keys(site.store, site.secrets, named, keys, plain_http_confirmed=confirmed)
    except (InvalidSource, InfraError) as error:
        return replace(typed, errors={getattr(error, "field", ""): str(error)})
    site.settings_changed()
    return None


def fragment(site: Site, form: SourceForm) -> Response:
    """The form alone, for a page that puts it in place: what was typed there stays, a key too."""
    return site.page("settings/source_form.html", form=form, kinds=kinds())


def _source(sent: Form, old: SourceConfig | None) -> SourceConfig:
    models = tuple(dict.fromkeys(name.strip() for name in sent.text("models").split(",") if name.strip()))
    # What is not one of the kinds is refused, in words, by the check of the workspace.
    kind = cast(SourceKind, sent.text("kind"))
    base = old or SourceConfig(sent.text("name"), kind)
    return replace(base, kind=kind, base_url=sent.text("base_url") or None, models=models, keys=())


def _variable(sent: Form, site: Site) -> Mapping[str, str]:
    """The name of the variable where it is one: a key that was typed in its place is not shown again."""
    name = sent.text("key_env")
    return {"key_env": name} if site.environment.get(name, "").strip() else {}


def _held(request: Request, sent: Form, site: Site) -> str:
    """The ticket for the key that was typed; a page with script still has the key itself."""
    if is_htmx(request) or not sent.text("key"):
        return sent.text("held")
    return site.held_keys.hold(checked_key(unquoted(sent.text("key"))))


def _keys(sent: Form, site: Site, source: SourceConfig, old: SourceConfig | None) -> list[str] | None:
    """What was typed, or what a variable holds; None where the stored ones stay.

    Raises ``InvalidSource``; the text has no key.
    """
    keys = [*_typed_key(sent, site), *_key_of_variable(sent, site)]
    if keys or old is None or not old.keys:
        return keys
    if sent.text("forget_key") == "yes":
        return []
    if not _places(site, source) <= _places(site, old):
        raise InvalidSource(
            "The stored key was given for another address and is not sent to this one. Type the key for this "
            "address, or have the stored one forgotten.",
            "key",
        )
    return None


def _typed_key(sent: Form, site: Site) -> list[str]:
    if sent.text("key"):
        return [checked_key(unquoted(sent.text("key")))]
    if not sent.text("held"):
        return []
    key = site.held_keys.find(sent.text("held"))
    if key is None:
        raise InvalidSource("The key that you typed is not kept any longer. Type it again.", "key")
    return [key]


def _key_of_variable(sent: Form, site: Site) -> list[str]:
    variable = sent.text("key_env")
    if not variable:
        return []
    value = site.environment.get(variable, "").strip()
    if not value:
        raise InvalidSource(
            "No variable of this name is set where Plancia was started. Set it and start Plancia again, or type"
            " the key in its field.",
            "key_env",
        )
    return [checked_key(unquoted(value))]


def unquoted(key: str) -> str:
    """Without the quotes that stood around it where it was copied from."""
    return key[1:-1] if len(key) > 1 and key[0] == key[-1] and key[0] in "\"'" else key


def _places(site: Site, source: SourceConfig) -> frozenset[str]:
    try:
        return site.sources.places(source)
    except ProviderError:  # stored when more was taken, or by another version: its key goes nowhere now
        return frozenset()


async def with_models(site: Site, source: SourceConfig, keys: list[str] | None) -> SourceConfig:
    """The source with its server's own list where no model was named. Raises ``InvalidSource`` where it has none."""
    if source.usual_models:
        return source
    check = await _try_out(site, source, keys)
    if source.kind == "gateway" and check.failure == "auth" and not (keys or source.keys):
        return source  # it may list them to whoever logs in
    if not check.models:
        field = _BESIDE.get(check.failure or "", "models")
        said = check.message if not check.ok else f"{source.name} lists no models."
        here = " here" if field == "models" else ""
        raise InvalidSource(f"{said} To save it all the same, name its models{here}.", field)
    # A model that only embeds cannot answer: it comes last, so that it is nobody's default.
    listed = sorted(check.models[:MODELS_ADOPTED], key=lambda model: "embed" in model.lower())
    return replace(source, models=tuple(listed))


async def _try_out(site: Site, source: SourceConfig, keys: list[str] | None) -> AuthCheck:
    """What its server says, before anything of it is stored."""
    try:
        provider = site.sources.try_out(source, keys[0] if keys else None)
    except ProviderError as error:
        return AuthCheck(False, error.message, failure=error.kind)
    return await provider.validate_auth()
