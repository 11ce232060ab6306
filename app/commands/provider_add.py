"""``plancia provider add``: a source of models, its keys, and what its server says to them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from app.commands.errors import UsageError
from app.commands.terminal import Terminal
from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck
from app.providers.catalogue import DEFAULT_WINDOW, Catalogue
from app.providers.sources import SourceConfig, SourceKind, from_environment
from app.workbench import Cabinet
from app.workspace.errors import InvalidSource
from app.workspace.source_checks import checked
from app.workspace.source_keys import add_source_with_keys, refuse_known


class Options(argparse.Namespace):
    data_dir: Path | None
    name: str
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
    refuse_known(cabinet.store, source.name)
    plain_http = _confirm_plain_http(source, terminal)
    keys = _keys(options, source, terminal)
    added = add_source_with_keys(
        cabinet.store, cabinet.secrets, source, keys, plain_http_confirmed=plain_http
    )
    terminal.say(f"Added {added.name}.")
    if keys:
        terminal.say(cabinet.secrets.where)
    check = await ask(cabinet, added.name, added.models)
    terminal.say(check.message if check.ok else f"It is added, but its test failed: {check.message}")
    for model in added.models:
        terminal.say(_window(added, model))


async def ask(cabinet: Cabinet, name: str, models: Sequence[str]) -> AuthCheck:
    """What the server of a source says when it is asked something cheap."""
    try:
        # A source without a list takes any model; the test asks for none.
        model = cabinet.sources.resolve(f"{name}/{models[0] if models else 'any'}")
    except ProviderError as error:
        return AuthCheck(False, error.message)
    return await model.provider.validate_auth()


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


def _window(source: SourceConfig, model: str) -> str:
    """How much the model can hold, and who says so."""
    if source.context is not None:
        return f"{model}: {source.context:,} tokens, as you said."
    facts = Catalogue.installed().facts(source.host_name, model)
    if facts.known:
        return f"{model}: {facts.context_window:,} tokens, as its model is known for."
    return f"{model}: nothing is known about its window, so {DEFAULT_WINDOW:,} tokens are assumed; --context sets it."
