"""What the pages of agents receive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from app.web.plain import one_line
from app.workspace.agent_files import AgentFile, is_id


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent as a line of the list."""

    id: str
    name: str
    hue: str
    description: str
    facts: tuple[str, ...]
    """The model that answers for it, how many tools it has, and the like."""
    tags: tuple[str, ...]
    problem: str
    notes: tuple[str, ...]
    turns: int
    href: str
    """Its page; empty for one whose file's name is none of an agent."""
    draft: str
    """The beginning of a message to it; empty where none can be sent."""
    can_switch: bool
    disabled: bool


def agent_view(agent: AgentFile, turns: int = 0) -> AgentView:
    named = is_id(agent.id)
    return AgentView(
        id=one_line(agent.id),
        name=one_line(agent.name),
        hue=agent.color,
        description=one_line(agent.description),
        facts=_facts(agent),
        tags=tuple(_tags(agent)),
        problem=one_line(agent.problem),
        notes=tuple(map(one_line, agent.notes)),
        turns=turns,
        href=f"/agents/{quote(agent.id)}" if named else "",
        draft=f"@{one_line(agent.name)}" if agent.is_ready else "",
        can_switch=named and bool(agent.version),
        disabled=agent.disabled,
    )


def _facts(agent: AgentFile) -> tuple[str, ...]:
    if agent.problem:
        return ()
    count = "all tools" if agent.tools is None else _counted(len(agent.tools), "tool")
    skills = (_counted(len(agent.skills), "skill"),) if agent.skills else ()
    return (one_line(agent.model or "model of the conversation"), count, *skills)


def _tags(agent: AgentFile) -> list[str]:
    tags = {
        "interactive": agent.interactive,
        "changed by you": agent.is_shipped and agent.is_stored,
        "off": agent.disabled,
        "cannot be used": bool(agent.problem),
    }
    return [tag for tag, holds in tags.items() if holds]


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class ReportView:
    """What became of one file that was to be taken over."""

    source: str
    name: str
    hue: str
    href: str
    """Empty where it was left."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentForm:
    """The form of one agent, as its file says or as it was typed, with what is wrong by field."""

    values: Mapping[str, str]
    tools: frozenset[str] = frozenset()
    errors: Mapping[str, str] = field(default_factory=dict)
    stale: str = ""
    """Why it was not saved although nothing in it is wrong."""

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    def error(self, name: str) -> str:
        return self.errors.get(name, "")

    @property
    def status(self) -> int:
        return 409 if self.stale else 422 if self.errors else 200
