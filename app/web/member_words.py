"""How members are called and coloured on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.web.plain import one_line
from app.workspace.agent_files import AgentFile

FindAgent = Callable[[str], AgentFile | None]
"""The agent of an id, where there is one by now."""


@dataclass(frozen=True, slots=True)
class Person:
    """A member as the page names it."""

    label: str
    hue: str
    """Class of its colour, or nothing."""


_LABELS = {"user": "You", "commander": "Commander"}
_HUES = {"user": "", "commander": "cmd"}


def nobody(_: str) -> AgentFile | None:
    """Knows no agent: members are called after their ids."""
    return None


def member_label(member: str, agents: FindAgent = nobody) -> str:
    """By the name in its file; one that has no file any more is called after its id."""
    if member in _LABELS:
        return _LABELS[member]
    agent = agents(member)
    called = agent.name if agent else member.replace("_", " ").replace("-", " ").capitalize()
    return one_line(called) or "Somebody"


def person(member: str, agents: FindAgent = nobody) -> Person:
    return Person(member_label(member, agents), member_hue(member, agents))


def member_hue(member: str, agents: FindAgent = nobody) -> str:
    """The class of its colour, or nothing."""
    if member in _HUES:
        return _HUES[member]
    agent = agents(member)
    return agent.color if agent else ""
