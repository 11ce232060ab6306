"""``plancia agent``: the agents, as the page keeps them in files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, assert_never

from app.commands.terminal import Terminal
from app.infra.paths import DataFolder
from app.workspace.agent_files import AgentFile
from app.workspace.agent_imports import import_agents
from app.workspace.agents import list_agents, load_agent, load_text, remove_agent

_NOTHING_TAKEN = 1


class Options(argparse.Namespace):
    action: Literal["list", "show", "import", "remove"]
    data_dir: Path | None
    json: bool
    name: str
    path: Path


async def run(options: Options, terminal: Terminal) -> int:
    folder = DataFolder.at(options.data_dir, terminal.environment).create()
    match options.action:
        case "list":
            _list(list_agents(folder), options.json, terminal)
        case "show":
            _show(folder, options.name, terminal)
        case "import":
            return _import(folder, options.path, terminal)
        case "remove":
            agent = remove_agent(folder, options.name)
            kept = "It is again as it ships." if agent.is_shipped else "The page of agents can bring it back."
            terminal.say(f"Removed {agent.name}. {kept}")
        case _:
            assert_never(options.action)
    return 0


def _list(agents: Sequence[AgentFile], as_json: bool, terminal: Terminal) -> None:
    if as_json:
        terminal.say_json([asdict(agent) for agent in agents])
    else:
        terminal.say_table(("id", "name", "model", "tools", "state"), [_cells(agent) for agent in agents])
        for agent in agents:
            if agent.problem:
                terminal.tell(f"{agent.id}: {agent.problem}")


def _cells(agent: AgentFile) -> Sequence[str]:
    tools = "all" if agent.tools is None else str(len(agent.tools))
    return (agent.id, agent.name, agent.model or "–", tools, _state(agent))


def _state(agent: AgentFile) -> str:
    if agent.problem:
        return "cannot be used"
    if agent.disabled:
        return "off"
    if agent.is_shipped:
        return "changed by you" if agent.is_stored else "ships with Plancia"
    return "yours"


def _show(folder: DataFolder, id: str, terminal: Terminal) -> None:
    """Its file, and on stderr what of it does not count. Raises ``NotFound``."""
    agent = load_agent(folder, id)
    terminal.say(load_text(folder, id).rstrip("\n"))
    for line in (agent.problem, *agent.notes):
        if line:
            terminal.tell(line)


def _import(folder: DataFolder, path: Path, terminal: Terminal) -> int:
    """Raises ``NotFound``, ``InvalidAgent``, ``StorageError``."""
    came = import_agents(folder, path)
    for each in came:
        if each.is_taken:
            terminal.say(f"{each.source}: taken over as {each.id}.")
        for note in each.notes:
            terminal.tell(f"{each.source}: {note}" if each.is_taken else f"{each.source}: left. {note}")
    return 0 if any(each.is_taken for each in came) else _NOTHING_TAKEN
