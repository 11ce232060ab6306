"""The agents that can be members: those that ship with Plancia, and the files in ``agents/`` of the data folder.

A file there takes the place of the one that ships under its name. One without a prompt only switches that one off, so
that it stays as it ships. What is removed is set aside beside the others until the next of its name is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from app.infra.files import write_atomic
from app.infra.paths import DataFolder
from app.models.errors import StorageError
from app.models.fields import clean_text
from app.prompts.team import TEAM, find_shipped
from app.workspace.agent_files import (
    LONGEST_DESCRIPTION,
    RESERVED,
    AgentFile,
    is_id,
    name_trouble,
    parse_agent,
    same_name,
    unreadable,
    write_agent,
)
from app.workspace.errors import AgentChanged, InvalidAgent, NotFound

T = TypeVar("T")

LARGEST = 256 * 1024
"""Bytes that the file of an agent may have."""

MOST = 500
"""Files that are looked at."""

_SWITCHED_OFF = "---\ndisabled: true\n---\n"
_LOCK = threading.Lock()
"""Comparing and replacing is one step, for all pages of this process."""


def list_agents(folder: DataFolder) -> list[AgentFile]:
    """The team in its order, then the others by name; those that are switched off or cannot be used among them."""
    return list(_listed(folder, _stamps(folder)))


@lru_cache(maxsize=4)
def _listed(folder: DataFolder, stamps: tuple[object, ...]) -> tuple[AgentFile, ...]:
    """Made anew once a stamp is another one: a turn asks many times who is there."""
    own = sorted(
        (find_agent(folder, id) or unreadable(id, _trouble(id)) for id in _own_ids(folder) if id not in TEAM),
        key=lambda agent: (same_name(agent.name), agent.id),
    )
    return tuple(_with_twins([*(load_agent(folder, id) for id in TEAM), *own]))


def _stamps(folder: DataFolder) -> tuple[object, ...]:
    """What is different once anything about the files of the agents is."""
    try:
        with os.scandir(folder.agents) as entries:
            return tuple(
                sorted((entry.name, *_stamp(entry)) for entry in entries if entry.name.endswith(".md"))
            )
    except FileNotFoundError:
        return ()


def _stamp(entry: os.DirEntry[str]) -> tuple[int, int, int, int]:
    try:
        facts = entry.stat()
    except OSError:
        return (0, 0, 0, 0)
    return (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino)


def find_agent(folder: DataFolder, id: str) -> AgentFile | None:
    if not is_id(id) or id in RESERVED:
        return None
    shipped, own = _shipped(id) if id in TEAM else None, _read(_path(folder, id))
    if own is None:
        return shipped
    if shipped and own.disabled and not own.prompt:
        return replace(shipped, disabled=True, version=own.version)
    return replace(own, is_shipped=shipped is not None, is_stored=True)


def load_agent(folder: DataFolder, id: str) -> AgentFile:
    """Raises ``NotFound``."""
    agent = find_agent(folder, id)
    if agent is None:
        raise NotFound(f"There is no agent {id[:60]!r}.")
    return agent


def load_text(folder: DataFolder, id: str) -> str:
    """The file that counts for an agent.

    Raises ``NotFound``, ``InvalidAgent`` where nothing of it can be read, ``StorageError``.
    """
    agent = load_agent(folder, id)
    _require_readable(agent)
    return _text(_path(folder, id)) if agent.is_stored else find_shipped(id) or ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What would be saved of an agent, and what it would take the place of."""

    agent: AgentFile
    """Tidied up."""
    text: str
    """Its file."""
    before: str
    """The file that counts now; empty where there is none."""
    seen: str
    """The version of that."""


def draft_agent(folder: DataFolder, agent: AgentFile) -> Draft:
    """Writes nothing. Raises ``InvalidAgent`` naming the field, ``StorageError``."""
    agent = _checked(folder, agent)
    there = find_agent(folder, agent.id)
    before = load_text(folder, agent.id) if there else ""
    return Draft(agent, write_agent(agent, before), before, there.version if there else "")


def save_agent(folder: DataFolder, agent: AgentFile, *, seen: str = "") -> AgentFile:
    """Write it as its file; ``seen`` is the version that was shown to whoever changed it, empty for a new one.

    Raises ``InvalidAgent`` naming the field, ``AgentChanged``, ``StorageError``.
    """
    with _LOCK:
        draft = draft_agent(folder, agent)
        if draft.seen != seen:
            raise AgentChanged(
                f"{draft.agent.name} has been changed meanwhile, in another window or by another program."
                if draft.seen
                else f"{draft.agent.name} has been removed meanwhile."
            )
        path, shipped = _path(folder, agent.id), find_shipped(agent.id)
        if draft.text == shipped:
            _do(lambda: path.unlink(missing_ok=True))
        else:
            _write(path, draft.text)
    return load_agent(folder, agent.id)


def add_text(folder: DataFolder, id: str, text: str) -> AgentFile:
    """Put a file there as it is. Raises ``InvalidAgent`` where the id is taken or none, ``StorageError``."""
    with _LOCK:
        if not is_id(id) or id in RESERVED:
            raise InvalidAgent(_trouble(id))
        if find_agent(folder, id) is not None:
            raise InvalidAgent(f"There is an agent {id} already, and it stays as it is.")
        _write(_path(folder, id), text)
    return load_agent(folder, id)


def remove_agent(folder: DataFolder, id: str) -> AgentFile:
    """The file of the user is set aside; one that ships is then as it ships. What was removed is returned.

    Raises ``NotFound``, ``InvalidAgent`` for one that ships and was not changed, ``StorageError``.
    """
    with _LOCK:
        agent = load_agent(folder, id)
        if not agent.is_stored:
            raise InvalidAgent(f"{agent.name} ships with Plancia: it can be switched off and not be removed.")
        _do(lambda: _path(folder, id).replace(_aside(folder, id)))
    return agent


def is_removed(folder: DataFolder, id: str) -> bool:
    """What was removed under this id can come back."""
    return is_id(id) and _aside(folder, id).is_file() and _read(_path(folder, id)) is None


def restore_agent(folder: DataFolder, id: str) -> AgentFile:
    """What was removed last under this id is back. Raises ``NotFound``, ``InvalidAgent``, ``StorageError``."""
    with _LOCK:
        if not is_id(id) or not _aside(folder, id).is_file():
            raise NotFound(f"No removed agent {id[:60]!r} is kept.")
        if not is_removed(folder, id):
            raise InvalidAgent(f"There is an agent {id} again. Remove it first, or leave it.")
        _do(lambda: _aside(folder, id).replace(_path(folder, id)))
    return load_agent(folder, id)


def set_disabled(folder: DataFolder, id: str, disabled: bool) -> AgentFile:
    """Switched off it is no member of any conversation. Raises ``NotFound``, ``InvalidAgent``, ``StorageError``."""
    with _LOCK:
        agent, path = load_agent(folder, id), _path(folder, id)
        _require_readable(agent)
        if agent.is_stored:
            _write(path, write_agent(replace(agent, disabled=disabled), _text(path)))
        elif disabled:
            _write(path, _SWITCHED_OFF)
        else:
            _do(lambda: path.unlink(missing_ok=True))
    return load_agent(folder, id)


def _require_readable(agent: AgentFile | None) -> None:
    """A file of which nothing could be read is not written over. Raises ``InvalidAgent``."""
    if agent and not agent.version:
        raise InvalidAgent(f"{agent.problem} Put {agent.id}.md right in an editor, or remove it.")


def _checked(folder: DataFolder, agent: AgentFile) -> AgentFile:
    """Tidied up. Raises ``InvalidAgent``."""
    agent = replace(
        agent,
        name=clean_text(agent.name).strip(),
        description=" ".join(clean_text(agent.description).split()),
        prompt=clean_text(agent.prompt).strip(),
    )
    if not is_id(agent.id) or agent.id in RESERVED:
        raise InvalidAgent(_trouble(agent.id), "name")
    if trouble := name_trouble(agent.name):
        raise InvalidAgent(trouble, "name")
    for other in list_agents(folder):
        if other.id != agent.id and same_name(other.name) == same_name(agent.name):
            raise InvalidAgent(f"There is an agent called {other.name} already ({other.id}).", "name")
    if len(agent.description) > LONGEST_DESCRIPTION:
        raise InvalidAgent(
            f"A description has at most {LONGEST_DESCRIPTION:,} characters; this one has "
            f"{len(agent.description):,}.",
            "description",
        )
    if not agent.prompt:
        raise InvalidAgent("It needs instructions: what it does, and how.", "prompt")
    if len(agent.prompt.encode()) > LARGEST // 2:
        raise InvalidAgent(f"Instructions have at most {LARGEST // 2048} KB.", "prompt")
    return agent


def _with_twins(agents: list[AgentFile]) -> Iterator[AgentFile]:
    """A name that two of them have leads to the first."""
    first = dict[str, AgentFile]()
    for agent in agents:
        twin = first.setdefault(same_name(agent.name), agent)
        note = f"{twin.id} has the same name: who writes @{agent.name} means that one."
        yield agent if twin is agent else replace(agent, notes=(*agent.notes, note))


def _path(folder: DataFolder, id: str) -> Path:
    return folder.agents / f"{id}.md"


def _aside(folder: DataFolder, id: str) -> Path:
    return folder.agents / f"{id}.md.removed"


def _own_ids(folder: DataFolder) -> list[str]:
    try:
        names = sorted(path.stem for path in folder.agents.iterdir() if path.suffix == ".md")
    except FileNotFoundError:
        return []
    return [name for name in names if not name.startswith(".")][:MOST]


def _trouble(id: str) -> str:
    """Why there is no agent under this id."""
    if is_id(id) and id not in RESERVED:
        return "Its file is a link that leads nowhere."
    if id in RESERVED:
        return f"No agent can be {id}: everybody's conversations have one. Give its file another name."
    return (
        f"The file {id[:60]}.md is not called like an agent: small letters and digits, parts joined by hyphens, "
        "as in code-reviewer.md."
    )


@lru_cache(maxsize=len(TEAM))
def _shipped(id: str) -> AgentFile:
    return replace(parse_agent(id, find_shipped(id) or ""), is_shipped=True)


def _read(path: Path) -> AgentFile | None:
    """None where no file is. One that cannot be read says so."""
    try:
        facts = path.stat()
        return _parsed(path, (facts.st_mtime_ns, facts.st_size, facts.st_ino))
    except FileNotFoundError:
        return None
    except OSError as error:
        return unreadable(path.stem, f"Its file cannot be read ({error.strerror or error}).")


@lru_cache(maxsize=MOST)
def _parsed(path: Path, stamp: tuple[int, int, int]) -> AgentFile:
    """Read once as long as its ``stamp`` is the same. Raises ``OSError``."""
    if not path.is_file():
        return unreadable(path.stem, "It is no file.")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        return unreadable(path.stem, f"Its file is larger than {LARGEST // 1024} KB.")
    try:
        return parse_agent(path.stem, data.decode())
    except UnicodeDecodeError:
        return unreadable(path.stem, "Its file is no text in UTF-8.")


def _text(path: Path) -> str:
    return _do(path.read_bytes).decode()


def _write(path: Path, text: str) -> None:
    _do(lambda: write_atomic(path, text.encode()))


def _do(change: Callable[[], T]) -> T:
    """Raises ``StorageError``."""
    try:
        return change()
    except OSError as error:
        raise StorageError(
            f"The file of the agent could not be read or written ({error.strerror or error}). Nothing was changed."
        ) from error
