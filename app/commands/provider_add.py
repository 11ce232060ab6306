"""``plancia provider add``: a source of models, its keys, and what its server says to them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from app.commands.errors import CommandError, UsageError
from app.commands.terminal import Terminal
from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck
from app.providers.catalogue import DEFAULT_WINDOW, Catalogue
from app.providers.model_list import unlisted
from app.providers.sources import SourceConfig, SourceKind, from_environment
from app.providers.wires import CHECK_SECONDS, loads_litellm
from app.workbench import Cabinet
from app.workspace.errors import InvalidSource
from app.workspace.model_sources import change_source
from app.workspace.source_checks import checked
from app.workspace.source_keys import add_source_with_keys, refuse_known

_ADOPTED = 50
"""Models of a server that become those of its source where none was named."""

_SHOWN = 5


class LoginOptions(argparse.Namespace):
    """How to log in to a gateway."""

    name: str
    device: bool
    issuer: str | None
    client_id: str | None
    scope: str | None
    redirect_port: int | None


class Options(LoginOptions):
    login: bool
    data_dir: Path | None
    kind: SourceKind
    base_url: str | None
    key_env: list[str]
    model: list[str]
    context: int | None
    max_output: int | None
    price_in: float | None
    price_out: float | None


async def add(options: Options, cabinet: Cabinet, terminal: Terminal) -> None:
    """Add it, then say what its server answers; a source whose test fails is added all the same."""
    source = SourceConfig(
        name=options.name,
        kind=options.kind,
        base_url=options.base_url,
        models=tuple(options.model),
        context=options.context,
        max_output=options.max_output,
        price_in=options.price_in,
        price_out=options.price_out,
    )
    logs_in = _logs_in(options)
    refuse_known(cabinet.store, source.name)
    plain_http = _confirm_plain_http(source, terminal)
    keys = [] if logs_in else _keys(options, source, terminal)
    added = add_source_with_keys(
        cabinet.store, cabinet.secrets, source, keys, plain_http_confirmed=plain_http
    )
    terminal.say(f"Added {added.name}.")
    if keys:
        terminal.say(cabinet.secrets.where)
    if logs_in:
        added = await _log_in(options, cabinet, added, terminal)
    check = await ask(cabinet, added, terminal)
    terminal.say(check.message if check.ok else f"It is added, but its test failed: {check.message}")
    for line in unlisted(added.models, check.models):
        terminal.tell(line)
    windows = await ask_windows(cabinet, added) if check.ok else {}
    learned = learn(added, check.models, windows)
    if learned != added:
        change_source(cabinet.store, learned, plain_http_confirmed=plain_http)
    for line in _models(learned, windows, is_said=options.context is not None):
        terminal.say(line)


def _logs_in(options: Options) -> bool:
    """Raises ``UsageError`` for flags that do not go together."""
    wanted = options.login or options.device
    if wanted and options.kind != "gateway":
        raise UsageError(f"A login is for --kind gateway; a source of the kind {options.kind} takes a key.")
    if wanted and options.key_env:
        raise UsageError(
            "A gateway is given either a key or a login: leave out --key-env, or --login and --device."
        )
    about = (options.issuer, options.client_id, options.scope, options.redirect_port)
    if not wanted and any(each is not None for each in about):
        raise UsageError("--issuer, --client-id, --scope and --redirect-port are about a login: add --login.")
    return wanted


async def _log_in(
    options: Options, cabinet: Cabinet, source: SourceConfig, terminal: Terminal
) -> SourceConfig:
    """Raises ``CommandError``: the source is there, and nobody is logged in to it."""
    from app.commands.provider_login import log_in

    try:
        return await log_in(options, cabinet, source, terminal)
    except ProviderError as error:
        raise CommandError(f"It is added, but nobody is logged in to it. {error.message}") from error


async def ask(cabinet: Cabinet, source: SourceConfig, terminal: Terminal) -> AuthCheck:
    """What the server of a source says when it is asked something cheap, and meanwhile what is waited for."""
    try:
        provider = cabinet.sources.try_out(source, None)
    except ProviderError as error:
        return AuthCheck(False, error.message, failure=error.kind)
    loading = " litellm is loaded first, which can take half a minute." if loads_litellm(source.kind) else ""
    whom = f"{source.name} at {source.base_url}" if source.base_url else source.name
    terminal.whisper(f"Asking {whom} what it offers, for up to {CHECK_SECONDS:.0f} s.{loading}")
    return await provider.validate_auth()


async def ask_windows(cabinet: Cabinet, source: SourceConfig) -> dict[str, int]:
    """Tokens by model, as far as the server's list says so."""
    from app.providers.direct import DirectWire
    from app.providers.gateway import Gateway

    provider = cabinet.sources.try_out(source, None).first
    if not isinstance(provider, DirectWire | Gateway):
        return {}
    try:
        return await provider.list_windows()
    except ProviderError:
        return {}


def learn(source: SourceConfig, listed: Sequence[str], windows: Mapping[str, int]) -> SourceConfig:
    """The source with what its server told of it: the models, where none was named, and a window they share.

    A known host with a usual model keeps its list open: it has hundreds.
    """
    models = source.models
    if not source.usual_models:
        models = tuple(sorted(listed[:_ADOPTED], key=lambda name: "embed" in name.lower()))
    found = {windows.get(model) for model in models}
    shared = found.pop() if len(found) == 1 else None
    return replace(source, models=models, context=source.context or shared)


def _models(source: SourceConfig, windows: Mapping[str, int], *, is_said: bool) -> Iterator[str]:
    """How much each model can hold, and who says so; a long list is cut."""
    for model in source.models[:_SHOWN]:
        facts = Catalogue.installed().facts(source.host_name, model)
        if is_said:
            yield f"{model}: {source.context:,} tokens, as you said."
        elif source.context is not None:
            yield f"{model}: {source.context:,} tokens, as its server says."
        elif facts.known:
            yield f"{model}: {facts.context_window:,} tokens, as is known of its name."
        else:
            yield (
                f"{model}: nothing is known about its window, so {DEFAULT_WINDOW:,} tokens are assumed; "
                "--context sets it."
            )
    if len(source.models) > _SHOWN:
        yield f"And {len(source.models) - _SHOWN} more: `plancia provider list --json` has them all."


def _keys(options: Options, source: SourceConfig, terminal: Terminal) -> list[str]:
    """From the named variables, else asked for where somebody sits there and the server may want one."""
    if options.key_env:
        return [_variable(name, terminal) for name in options.key_env]
    found = {each.name for each in from_environment(terminal.environment) if each.keys}
    if source.kind == "ollama" or (source.name in found and source.base_url is None) or not terminal.can_ask:
        return []
    key = terminal.ask_hidden(f"Key of {source.name} (it is not shown; Enter where none is needed): ")
    return [key] if key.strip() else []


def _variable(name: str, terminal: Terminal) -> str:
    key = terminal.environment.get(name)
    if not key or not key.strip():
        shown = name if name.isidentifier() and len(name) <= 60 else "given with --key-env"
        raise UsageError(f"The variable {shown} is not set. Put the key in a variable, and give its name.")
    return key


def _confirm_plain_http(source: SourceConfig, terminal: Terminal) -> bool:
    """Whether the user knows that key and texts travel unencrypted. Raises ``InvalidSource`` for all else."""
    try:
        checked(source)
    except InvalidSource as refusal:
        checked(source, plain_http_confirmed=True)
        if terminal.ask(f"{refusal} Do it all the same? [y/N] ").lower() not in ("y", "yes"):
            raise
        return True
    return False
