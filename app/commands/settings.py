"""``plancia settings``: every setting of the page, from the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal, assert_never

from app.commands.terminal import Terminal
from app.infra.paths import DataFolder
from app.infra.settings import SETTINGS, written
from app.workbench import open_cabinet
from app.workspace.setting_checks import checked_setting
from app.workspace.settings import all_settings, get_setting, set_setting
from app.workspace.store import Store


class Options(argparse.Namespace):
    action: Literal["list", "get", "set"]
    data_dir: Path | None
    json: bool
    key: str
    value: str


async def run(options: Options, terminal: Terminal) -> int:
    folder = DataFolder.at(options.data_dir, terminal.environment)
    async with open_cabinet(folder, environment=terminal.environment) as cabinet:
        match options.action:
            case "list":
                _list(cabinet.store, options.json, terminal)
            case "get":
                terminal.say(written(get_setting(cabinet.store, options.key)))
            case "set":
                checked_setting(options.key, options.value, cabinet.sources)
                value = set_setting(cabinet.store, options.key, options.value)
                terminal.say(f"{options.key} = {written(value)}")
            case _:
                assert_never(options.action)
    return 0


def _list(store: Store, as_json: bool, terminal: Terminal) -> None:
    values = all_settings(store)
    if as_json:
        terminal.say_json(values)
        return
    rows = [(key, written(value), SETTINGS[key].help) for key, value in values.items()]
    terminal.say_table(("setting", "value", "what it does"), rows)
