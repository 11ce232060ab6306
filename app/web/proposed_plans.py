"""A plan that is asked about before it is set, drawn as its board will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.group_chat.plan_values import Step
from app.web.member_words import FindAgent, Person, person
from app.web.plain import one_line, plain
from app.web.plan_graph import Graph, plan_graph


@dataclass(frozen=True, slots=True)
class ProposedStep:
    index: int
    title: str
    who: Person
    after: tuple[int, ...]
    input: str


@dataclass(frozen=True, slots=True)
class ProposedPlan:
    graph: Graph | None
    steps: tuple[ProposedStep, ...]


def proposed_plan(asked: Sequence[Mapping[str, Any]], agents: FindAgent) -> ProposedPlan | None:
    """From the steps that a question was stored with; None for a question about anything else."""
    if not asked:
        return None
    steps = [Step(**{**each, "wait_for": tuple(each["wait_for"])}) for each in asked]
    return ProposedPlan(
        plan_graph(steps),
        tuple(
            ProposedStep(
                step.index,
                one_line(step.title),
                person(step.assignee, agents),
                step.wait_for,
                plain(step.input),
            )
            for step in steps
        ),
    )
