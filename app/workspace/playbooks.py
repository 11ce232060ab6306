"""Playbooks: the steps of a plan kept to be used again, a JSON file each in ``playbooks/`` of the data folder.

``{{name}}`` in a title or an input is a hole that is filled in at each run; what a plan itself fills in is none.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.infra.files import write_atomic
from app.infra.paths import DataFolder
from app.models.errors import StorageError
from app.models.fields import clean, clean_text
from app.workspace.errors import InvalidPlaybook, NotFound

LARGEST = 256 * 1024
"""Bytes of a file."""

MOST = 500
"""Files that are looked at."""

LONGEST_NAME = 80

LONGEST_DESCRIPTION = 500

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_HOLE = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}")
_PLANS_OWN = re.compile(r"user_message|step_[0-9]+")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NOT_ID = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a run asks for, to be filled into the holes of its name."""

    name: str
    label: str = ""
    """The question; empty where the name says it."""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Playbook:
    id: str
    name: str
    steps: tuple[Mapping[str, Any], ...] = field(default=())
    """As ``set_plan`` takes them; whether they make a plan is the room's to say."""
    description: str = ""
    about: tuple[Parameter, ...] = ()
    """What is said of its parameters; one that nothing is said of is called by its name."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What is asked for at a run, in the order in which it comes in the steps."""
        texts = (str(step.get(part) or "") for step in self.steps for part in ("title", "input"))
        known = {parameter.name: parameter for parameter in self.about}
        return tuple(known.get(name, Parameter(name)) for name in holes(texts))

    def filled(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Its steps with the holes filled in. Braces in a value are text, not holes of the plan."""

        def value(found: re.Match[str]) -> str:
            given = values.get(found[1])
            return found[0] if given is None or _PLANS_OWN.fullmatch(found[1]) else given.replace("{{", "{ {")

        texts = ("title", "input")
        return [
            {**step, **{part: _HOLE.sub(value, str(step[part])) for part in texts if step.get(part)}}
            for step in self.steps
        ]

    def written(self) -> str:
        """Its file: what is exported, and imported again."""
        about = [asdict(parameter) for parameter in self.about]
        parts = {"name": self.name, "description": self.description, "parameters": about, "steps": self.steps}
        told = {name: value for name, value in parts.items() if value}
        return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def holes(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the parameters in texts, as they come; what a plan itself fills in is none."""
    found = (hole[1] for text in texts for hole in _HOLE.finditer(text))
    return tuple(dict.fromkeys(name for name in found if not _PLANS_OWN.fullmatch(name)))


def version_of(text: str) -> str:
    """Tells one state of a file from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_playbook(text: str, id: str = "") -> Playbook:
    """From the text of a file. Raises ``InvalidPlaybook`` in words."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise InvalidPlaybook(f"This is no playbook: it cannot be read as JSON ({error}).") from error
    if not isinstance(given, dict) or not isinstance(given.get("steps"), list):
        raise InvalidPlaybook('A playbook is a JSON object with a "name" and a list of "steps".')
    name = given.get("name")
    if not isinstance(name, str) or not name.strip():
        raise InvalidPlaybook('Give the playbook a "name".')
    if not all(isinstance(step, dict) for step in given["steps"]) or not given["steps"]:
        raise InvalidPlaybook("A playbook needs at least one step, and each is an object.")
    steps = tuple(clean(step) for step in given["steps"])
    description = given.get("description", "")
    if not isinstance(description, str):
        raise InvalidPlaybook('The "description" of a playbook is a text.')
    return Playbook(
        id,
        clean_text(" ".join(name.split()))[:LONGEST_NAME],
        steps,
        clean_text(description.strip())[:LONGEST_DESCRIPTION],
        tuple(_parameters(given.get("parameters", []))),
    )


def list_playbooks(folder: DataFolder) -> list[Playbook]:
    """By name. A file that cannot be read is left out; its page says what is wrong."""
    found = []
    for id in _ids(folder):
        try:
            found.append(load_playbook(folder, id))
        except InvalidPlaybook:
            found.append(Playbook(id, id))
    return sorted(found, key=lambda one: (one.name.casefold(), one.id))


def load_playbook(folder: DataFolder, id: str) -> Playbook:
    """Raises ``NotFound``, ``InvalidPlaybook``."""
    return read_playbook(load_text(folder, id), id)


def load_text(folder: DataFolder, id: str) -> str:
    """Raises ``NotFound``, and ``InvalidPlaybook`` for a file that is too large or cannot be opened."""
    path = _path(folder, id)
    if not path.is_file():
        raise NotFound(f"There is no playbook {id[:60]!r}.")
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InvalidPlaybook(f"The file {path.name} cannot be opened ({error.strerror}).") from error
    if len(data) > LARGEST:
        raise InvalidPlaybook(f"The file {path.name} is larger than the 256 kB that a playbook has at most.")
    return data.decode(errors="replace")


def save_playbook(folder: DataFolder, playbook: Playbook) -> Playbook:
    """Under its id, or, where it has none, under a new one made of its name. Raises ``StorageError``."""
    id = playbook.id or _free_id(folder, playbook.name)
    kept = replace(playbook, id=id)
    try:
        folder.playbooks.mkdir(mode=0o700, exist_ok=True)
        write_atomic(folder.playbooks / f"{id}.json", kept.written().encode())
    except OSError as error:
        raise StorageError(f"The playbook could not be saved ({error.strerror}).") from error
    return kept


def remove_playbook(folder: DataFolder, id: str) -> None:
    """Its file is set aside. Raises ``NotFound``, ``StorageError``."""
    path = _path(folder, id)
    if not path.is_file():
        raise NotFound(f"There is no playbook {id[:60]!r}.")
    _move(path, _aside(path))


def is_removed(folder: DataFolder, id: str) -> bool:
    """What was removed under this id can come back."""
    return bool(_ID.fullmatch(id)) and _aside(_path(folder, id)).is_file() and not _path(folder, id).exists()


def restore_playbook(folder: DataFolder, id: str) -> None:
    """What was removed last under this id is back. Raises ``NotFound``, ``StorageError``."""
    if not is_removed(folder, id):
        raise NotFound(
            f"No removed playbook {id[:60]!r} is kept, or there is another one of this name by now."
        )
    _move(_aside(_path(folder, id)), _path(folder, id))


def kept_steps(steps: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Of the steps of a plan what it was given, without what became of them."""
    given = ("index", "title", "assignee", "input", "wait_for", "on_failure", "fields")
    return tuple({name: step[name] for name in given if step.get(name) not in (None, "")} for step in steps)


def _path(folder: DataFolder, id: str) -> Path:
    """Raises ``NotFound`` for what is no id."""
    if not _ID.fullmatch(id):
        raise NotFound(f"There is no playbook {id[:60]!r}.")
    return folder.playbooks / f"{id}.json"


def _aside(path: Path) -> Path:
    return path.with_suffix(".removed")


def _move(path: Path, to: Path) -> None:
    try:
        path.replace(to)
    except OSError as error:
        raise StorageError(f"The file {path.name} could not be moved ({error.strerror}).") from error


def _parameters(given: Any) -> Iterator[Parameter]:
    wrong = InvalidPlaybook(
        '"parameters" is a list of objects, each with a "name", and "label" and "default" as texts.'
    )
    if not isinstance(given, list):
        raise wrong
    for one in given:
        if not isinstance(one, dict) or not one.keys() <= {"name", "label", "default"}:
            raise wrong
        parameter = Parameter(**{"name": "", **clean(one)})
        if not all(isinstance(text, str) for text in astuple(parameter)) or not _NAME.fullmatch(
            parameter.name
        ):
            raise wrong
        yield parameter


def _ids(folder: DataFolder) -> list[str]:
    found = folder.playbooks.glob("*.json") if folder.playbooks.is_dir() else ()
    return sorted(path.stem for path in found if _ID.fullmatch(path.stem))[:MOST]


def _free_id(folder: DataFolder, name: str) -> str:
    base = _NOT_ID.sub("-", name.lower()).strip("-")[:40].strip("-") or "playbook"
    taken = set(_ids(folder))
    numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, MOST + 2))
    return next(id for id in numbered if id not in taken)
