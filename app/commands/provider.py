"""``plancia provider``: the model sources, as the page's settings keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal, assert_never

from app.commands import provider_add
from app.commands.errors import CommandError
from app.commands.terminal import Terminal
from app.infra.paths import DataFolder
from app.providers.logins import is_login
from app.providers.model_list import unlisted
from app.providers.sources import SourceConfig, from_environment
from app.workbench import Cabinet, open_cabinet
from app.workspace.model_sources import find_source, list_sources, load_source, order_models
from app.workspace.source_keys import remove_source_with_keys
from app.workspace.source_logins import load_gateway

_SHOWN = 3
"""Models of a source that one line of the list names."""


class Options(provider_add.Options):
    action: Literal["add", "login", "list", "order", "test", "remove"]
    json: bool
    labels: list[str]


async def run(options: Options, terminal: Terminal) -> int:
    folder = DataFolder.at(options.data_dir, terminal.environment)
    async with open_cabinet(folder, environment=terminal.environment) as cabinet:
        match options.action:
            case "add":
                await provider_add.add(options, cabinet, terminal)
            case "login":
                await _log_in(options, cabinet, terminal)
            case "list":
                _list(cabinet, options.json, terminal)
            case "order":
                order_models(cabinet.store, options.labels, from_environment(cabinet.environment))
                _say_order(cabinet, terminal)
            case "test":
                await _test(options.name, cabinet, terminal)
            case "remove":
                remove_source_with_keys(cabinet.store, cabinet.secrets, options.name)
                terminal.say(f"Removed {options.name} and its stored keys.")
            case _:
                assert_never(options.action)
    return 0


async def _log_in(options: Options, cabinet: Cabinet, terminal: Terminal) -> None:
    """Raises ``ProviderError``, ``CommandError`` where the login is made and of no use, ``NotFound``."""
    from app.commands.provider_login import log_in

    source = load_gateway(cabinet.store, options.name)
    check = await provider_add.ask(cabinet, await log_in(options, cabinet, source, terminal), terminal)
    if not check.ok:
        raise CommandError(check.message)
    terminal.say(check.message)


async def _test(name: str, cabinet: Cabinet, terminal: Terminal) -> None:
    """Raises ``CommandError`` where it would not answer, ``NotFound``."""
    found = [source for source in from_environment(cabinet.environment) if source.name == name]
    source = find_source(cabinet.store, name) or (found[0] if found else load_source(cabinet.store, name))
    check = await provider_add.ask(cabinet, source, terminal)
    if not check.ok:
        raise CommandError(check.message)
    terminal.say(check.message)
    for line in unlisted(source.models, check.models):
        terminal.tell(line)


def _list(cabinet: Cabinet, as_json: bool, terminal: Terminal) -> None:
    configured = list_sources(cabinet.store)
    taken = {source.name for source in configured}
    found = [source for source in from_environment(cabinet.environment) if source.name not in taken]
    sources = [*configured, *found]
    if as_json:
        terminal.say_json([asdict(source) for source in sources])
    elif sources:
        terminal.say_table(("name", "kind", "address", "models", "key"), [_cells(each) for each in sources])
    else:
        terminal.say(
            "There is no model source yet, so the demo model answers. Add one: `plancia help provider add`."
        )


def _say_order(cabinet: Cabinet, terminal: Terminal) -> None:
    """Who answers where nobody chose a model, and who takes over from whom."""
    places, default = cabinet.sources.groups(), cabinet.sources.preferred()
    if default:
        terminal.say(f"{default} is asked before all others: it was set as the default.")
    if places:
        rows = [
            (str(number), group.label, _key(group.source)) for number, group in enumerate(places, start=1)
        ]
        terminal.say_table(("", "model", "key"), rows)
    else:
        terminal.say("There is no model to put into an order yet: `plancia help provider add`.")


def _cells(source: SourceConfig) -> Sequence[str]:
    models = ", ".join(source.models[:_SHOWN]) + (", …" if len(source.models) > _SHOWN else "")
    return (source.name, source.kind, source.base_url or "–", models or "any", _key(source))


def _key(source: SourceConfig) -> str:
    match source.keys:
        case ():
            return "none"
        case (name,) if is_login(name):
            return "login"
        case (name,) if source.origin == "environment":
            return name
        case keys:
            return "stored" if len(keys) == 1 else f"{len(keys)} stored"
