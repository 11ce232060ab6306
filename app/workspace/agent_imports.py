"""Agents of other programs, taken over: Markdown files with a head, and TOML files of Codex.

Nothing is written over. Each file comes back with what became of it, in words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.infra.front_matter import FrontMatter, FrontMatterError
from app.infra.paths import DataFolder
from app.workspace.agent_files import id_for, name_trouble
from app.workspace.agent_tools import READING_TOOLS
from app.workspace.agents import LARGEST, MOST, add_text, list_agents
from app.workspace.errors import InvalidAgent, NotFound

HOMES = (".claude/agents", ".opencode/agents", ".opencode/agent", ".codex/agents", ".plancia/agents")
"""Where agents lie in the folder of a project or of a user."""

DEEPEST = 3
"""Folders below the one that was named."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one file."""

    source: str
    """Its name, from the folder that was named."""
    id: str = ""
    """The agent that it is now; empty where it was left."""
    name: str = ""
    notes: tuple[str, ...] = ()
    """What of it does not count here; of a file that was left, why."""

    @property
    def is_taken(self) -> bool:
        return bool(self.id)


def import_agents(folder: DataFolder, path: Path) -> list[Imported]:
    """A file, a folder of files, or a folder in which other programs keep theirs.

    Raises ``NotFound``, ``InvalidAgent`` for a path without any, ``StorageError``.
    """
    try:
        path = path.expanduser()
        files = [path] if path.is_file() else list(_files(path))[:MOST]
    except (OSError, RuntimeError) as error:
        raise InvalidAgent(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).", "path"
        ) from error
    if not path.exists():
        raise NotFound(f"{path} is not there.")
    if not files:
        raise InvalidAgent(f"There is no agent in {path}: they are files that end in .md or .toml.", "path")
    root = path.parent if path.is_file() else path
    return [_import_file(folder, file, str(file.relative_to(root))) for file in files]


def import_data(folder: DataFolder, source: str, data: bytes) -> Imported:
    """One file by its name and its bytes. Raises ``StorageError``."""
    try:
        text = _text(source, data)
        id = add_text(folder, id_for(Path(source).stem), text).id
    except InvalidAgent as refused:
        return Imported(source, notes=(str(refused),))
    agent = next(each for each in list_agents(folder) if each.id == id)
    notes = (agent.problem, *agent.notes) if agent.problem else agent.notes
    return Imported(source, agent.id, agent.name, notes)


def _files(folder: Path) -> Iterator[Path]:
    homes = [home for name in HOMES if (home := folder / name).is_dir()]
    for home in homes or [folder]:
        for path in sorted(home.rglob("*")):
            inside = path.relative_to(home).parts
            if path.suffix in (".md", ".toml") and path.is_file() and len(inside) <= DEEPEST:
                yield path


def _import_file(folder: DataFolder, path: Path, source: str) -> Imported:
    if path.is_symlink():
        return Imported(source, notes=("It is a link to another place.",))
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        return Imported(source, notes=(f"It cannot be read ({error.strerror or error}).",))
    return import_data(folder, source, data)


def _text(source: str, data: bytes) -> str:
    """The file as one of ours. Raises ``InvalidAgent`` for what is no agent."""
    if len(data) > LARGEST:
        raise InvalidAgent(f"It is larger than {LARGEST // 1024} KB.")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidAgent("It is no text in UTF-8.") from None
    return _of_toml(text) if source.lower().endswith(".toml") else _of_markdown(text)


def _of_markdown(text: str) -> str:
    try:
        matter = FrontMatter.parse(text)
    except FrontMatterError as error:
        raise InvalidAgent(str(error)) from error
    if not {"name", "description"} & set(matter.keys):
        raise InvalidAgent("It is no agent: no head between two lines of --- names or describes one.")
    if not matter.body.strip():
        raise InvalidAgent("It says nothing below its head: an agent needs instructions.")
    return text


def _of_toml(text: str) -> str:
    """A custom agent of Codex. What a read-only one may not do is left out of its tools."""
    try:
        facts: Mapping[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidAgent(f"It is no valid TOML ({error}).") from error
    prompt, name = facts.get("developer_instructions"), facts.get("name")
    if not isinstance(prompt, str) or not prompt.strip():
        raise InvalidAgent("It is no agent: it has no developer_instructions.")
    matter = FrontMatter(body=f"\n{prompt.strip()}\n")
    if isinstance(name, str) and not name_trouble(name):
        matter = matter.with_value("name", name)
    if isinstance(description := facts.get("description"), str):
        matter = matter.with_value("description", " ".join(description.split()))
    if isinstance(model := facts.get("model"), str):
        matter = matter.with_value("model", model)
    if facts.get("sandbox_mode") == "read-only":
        matter = matter.with_value("tools", READING_TOOLS)
    return matter.text
