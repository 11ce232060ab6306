"""An agent as a file: a head of names and values, below it the prompt. Pure: from text to value, and back.

Files come from people, from other programs and from strangers. What cannot be used is said, in ``problem`` where the
agent cannot work and in ``notes`` where it can; what is not known stays in the file, to the byte.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from app.infra.front_matter import FrontMatter, FrontMatterError, Value
from app.workspace.agent_tools import less, read_denied, read_tools

HUES: Mapping[str, str] = {
    "a1": "plum",
    "a2": "blue",
    "a3": "slate",
    "a4": "green",
    "a5": "rose",
    "a6": "olive",
    "a7": "indigo",
    "a8": "umber",
}
"""The colours of members, by the name of their class, as they are written in a file."""

_NEAR = {
    "purple": "a1",
    "violet": "a1",
    "magenta": "a1",
    "gray": "a3",
    "grey": "a3",
    "white": "a3",
    "cyan": "a2",
    "teal": "a4",
    "pink": "a5",
    "red": "a5",
    "yellow": "a6",
    "orange": "a8",
    "brown": "a8",
}
"""What other programs call colours, and ours that are nearest."""

RESERVED = frozenset({"commander", "user", "you", "plancia", "worker"})
"""Names and ids of those who are in every conversation."""

LONGEST_NAME = 60
LONGEST_DESCRIPTION = 1_000
LONGEST_ID = 60

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MODEL = re.compile(r"[^\s/]+/\S+")
_YES = {"true", "yes", "on", "1"}
_RESTRICTING = ("permission", "permissions", "permissionMode", "sandbox_mode")
_DENYING = ("disallowedTools", "permission")
_KNOWN = {"name", "description", "model", "tools", "skills", "interactive", "color", "disabled", "disable"}


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One agent, as its file says."""

    id: str
    name: str
    description: str = ""
    """What it is for: Commander decides by it whom to ask."""
    model: str | None = None
    """``provider/model``; None: that of the conversation."""
    tools: tuple[str, ...] | None = None
    """Names out of ``ALL_TOOLS``, in that order; None: all that members may have."""
    skills: tuple[str, ...] = ()
    interactive: bool = False
    """It may hold the floor: it answers the user over several messages until it hands back."""
    color: str = "a1"
    """A key of ``HUES``."""
    prompt: str = ""
    disabled: bool = False
    is_shipped: bool = False
    """It belongs to the team that ships with Plancia: it can be changed and switched off, and not be removed."""
    is_stored: bool = False
    """What counts is a file of the user."""
    problem: str = ""
    """Why it cannot be used, in a sentence; empty where it can."""
    notes: tuple[str, ...] = ()
    """What its file says and does not count here, in sentences."""
    version: str = ""
    """Of the content, so that a change is not written over another one."""

    @property
    def is_ready(self) -> bool:
        return not (self.problem or self.disabled)


def is_id(text: str) -> bool:
    return len(text) <= LONGEST_ID and bool(_ID.fullmatch(text))


def id_for(name: str, taken: Collection[str] = ()) -> str:
    """An id that says the name, as far as Latin letters can, and that nobody has."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    slug = "-".join(re.findall(r"[a-z0-9]+", plain))[: LONGEST_ID - 4].strip("-") or "agent"
    number = 1
    while (id := slug if number == 1 else f"{slug}-{number}") in {*taken, *RESERVED}:
        number += 1
    return id


def same_name(name: str) -> str:
    """Names that are equal in this are equal to whoever types one after ``@``."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def name_trouble(name: str) -> str:
    """Why an agent cannot be called so, or nothing."""
    if not name.strip():
        return "It needs a name."
    if len(name) > LONGEST_NAME:
        return f"A name has at most {LONGEST_NAME} characters; this one has {len(name)}."
    if "@" in name or not name.isprintable():
        return "A name is one line of letters, digits and signs, without @."
    if same_name(name) in RESERVED:
        return f"Every conversation has its own {name.strip()}: choose another name."
    return ""


def version_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def unreadable(id: str, problem: str) -> AgentFile:
    """An agent of whom nothing is known but its file's name."""
    return AgentFile(id, _called(id), color=_hue_of(id), problem=problem)


def parse_agent(id: str, text: str) -> AgentFile:
    """The agent that a file says, whatever stands in it."""
    matter, trouble = _parts(text)
    name, description = _line(matter.find("name")), _line(matter.find("description"))
    tools, _ = read_tools(matter.find("tools"))
    denied = [tool for key in _DENYING for tool in read_denied(matter.find(key))]
    prompt = matter.body.strip()
    return AgentFile(
        id=id,
        name=_called(id) if name_trouble(name) else name,
        description=description[:LONGEST_DESCRIPTION],
        model=_model(matter),
        tools=less(tools, denied),
        skills=_list(matter.find("skills")),
        interactive=_line(matter.find("interactive")).lower() in _YES,
        color=_hue(_line(matter.find("color"))) or _hue_of(id),
        prompt=prompt,
        disabled=any(_line(matter.find(key)).lower() in _YES for key in ("disabled", "disable")),
        problem=trouble or ("" if prompt else "It says nothing below its head: an agent needs instructions."),
        notes=tuple(_notes(matter, name, description)),
        version=version_of(text),
    )


def write_agent(agent: AgentFile, text: str = "") -> str:
    """``text`` with what is other in ``agent``: every line that says the same, or that is not known, stays."""
    matter, before = _parts(text)[0], parse_agent(agent.id, text)
    said = _values(before) if text else {}
    for key, value in _values(agent).items():
        if key in said and value == said[key]:
            continue
        matter = matter.without(key) if value is None else matter.with_value(key, value)
        for other in _OVERRIDDEN.get(key, ()):
            matter = matter.without(other)
    return (matter if agent.prompt == before.prompt else replace(matter, body=f"\n{agent.prompt}\n")).text


def _parts(text: str) -> tuple[FrontMatter, str]:
    """Head and body, and what is wrong with them; where the head does not end, all of it is body."""
    try:
        return FrontMatter.parse(text), ""
    except FrontMatterError as error:
        return FrontMatter("", (), "", text), str(error)


_OVERRIDDEN = {"tools": _DENYING, "disabled": ("disable",)}
"""Keys that would go on to count beside a value that is written."""


def _values(agent: AgentFile) -> dict[str, str | bool | tuple[str, ...] | None]:
    """What its head says, by key; None where nothing is said."""
    return {
        "name": agent.name,
        "description": agent.description or None,
        "color": HUES[agent.color],
        "model": agent.model,
        "tools": agent.tools,
        "skills": agent.skills or None,
        "interactive": agent.interactive or None,
        "disabled": agent.disabled or None,
    }


def _notes(matter: FrontMatter, name: str, description: str) -> Iterator[str]:
    trouble = name_trouble(name) if name else ""
    if trouble:
        yield f"The name “{name[:LONGEST_NAME]}” is not used. {trouble}"
    if len(description) > LONGEST_DESCRIPTION:
        yield f"Of its description the first {LONGEST_DESCRIPTION:,} characters are used."
    model = _line(matter.find("model"))
    if model.lower() not in ("", "inherit") and not _model(matter):
        yield f"The model “{model[:60]}” names no provider, so the model of the conversation answers."
    if unknown := read_tools(matter.find("tools"))[1]:
        yield f"Tools that are not known here are left out: {_some(unknown)}."
    unread = [
        key
        for key in _RESTRICTING
        if key in matter.keys and not (key in _DENYING and isinstance(matter.find(key), Mapping))
    ]
    if unread:
        yield f"What it may do is also said by {_some(unread)}, which does not count here: choose its tools."
    rest = [key for key in matter.keys if key not in {*_KNOWN, *_RESTRICTING, *_DENYING}]
    if rest:
        yield f"Kept in the file and not used here: {_some(rest)}."


def _some(names: Collection[str]) -> str:
    shown = [name[:40] for name in dict.fromkeys(names)]
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")


def _model(matter: FrontMatter) -> str | None:
    """What stands behind a # chooses a variant in another program."""
    model = _line(matter.find("model")).partition("#")[0]
    return model if _MODEL.fullmatch(model) and len(model) <= 200 else None


def _line(value: Value | None) -> str:
    """A text as one line; a value that is no text says nothing."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list(value: Value | None) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value or ()
    return tuple(dict.fromkeys(line for name in names if (line := _line(name))))


def _hue(name: str) -> str:
    word = name.lower()
    if word in HUES:
        return word
    return next((hue for hue, called in HUES.items() if called == word), _NEAR.get(word, ""))


def _hue_of(id: str) -> str:
    """The same one each time for an agent whose file names none."""
    return f"a{sum(id.encode()) % len(HUES) + 1}"


def _called(id: str) -> str:
    return id.replace("-", " ").capitalize()
