"""The form of one step, on the board of a plan as in a playbook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.group_chat.roles import COMMANDER, USER
from app.web.member_words import FindAgent, nobody, person
from app.web.plain import one_line, plain

IF_IT_FAILS = (
    ("ask_commander", "Ask Commander"),
    ("continue", "Go on without it"),
    ("abort_plan", "End the plan"),
)

_SEPARATORS = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class StepForm:
    """What of a step can be changed."""

    title: str
    input: str
    after: str
    """The steps it waits for, as they are typed."""
    assignees: tuple[Option, ...]
    on_failure: tuple[Option, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    """What is wrong, by part."""

    def error(self, part: str) -> str:
        return self.errors.get(part, "")


def step_form(
    *,
    title: str,
    input: str,
    after: str,
    assignee: str,
    on_failure: str,
    team: Sequence[str],
    agents: FindAgent = nobody,
    errors: Mapping[str, str] | None = None,
) -> StepForm:
    """``team`` are the agents that it can be given to; whoever has it stays a choice."""
    who = dict.fromkeys((*team, COMMANDER, USER, assignee or COMMANDER))
    return StepForm(
        title=one_line(title),
        input=plain(input),
        after=one_line(after),
        assignees=tuple(Option(id, person(id, agents).label, id == assignee) for id in who),
        on_failure=tuple(Option(value, label, value == on_failure) for value, label in IF_IT_FAILS),
        errors=errors or {},
    )


def named_steps(typed: str) -> list[int | str]:
    """The steps that a line names; what is no number stays as it was typed, and the plan says that it is none."""
    words = (word for word in _SEPARATORS.split(typed) if word)
    return [int(word) if word.isascii() and word.isdecimal() and len(word) < 5 else word for word in words]
