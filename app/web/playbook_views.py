"""What the pages of playbooks receive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.group_chat.plan_check import PlanRefused, check_plan
from app.group_chat.plan_forms import wrong_fields
from app.web.member_words import FindAgent
from app.web.plain import one_line, plain
from app.web.playbook_drafts import Draft
from app.web.step_forms import StepForm, step_form
from app.workspace.playbooks import LONGEST_DESCRIPTION, LONGEST_NAME, Parameter, Playbook

_PARTS = {"wait_for": "after"}
"""Parts of a step that are called otherwise in its form."""

Errors = Mapping[tuple[int, str], str]
"""What is wrong, by step and part; step 0 is the playbook itself."""


@dataclass(frozen=True, slots=True)
class PlaybookView:
    id: str
    name: str
    description: str
    titles: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    """What a run asks for."""

    @property
    def href(self) -> str:
        return f"/playbooks/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookForm:
    name: str
    description: str
    seen: str
    steps: tuple[StepForm, ...]
    fields: tuple[str, ...]
    """Of the steps, as JSON."""
    parameters: tuple[Parameter, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    stale: bool = False
    """Its file is another one than the form was made of."""
    focus: int = 0
    """The step that the user has just moved or added."""

    def error(self, part: str) -> str:
        return self.errors.get(part, "")

    @property
    def is_changed(self) -> bool:
        """What it shows is not what is saved."""
        return bool(self.focus or self.stale or self.errors or any(step.errors for step in self.steps))


def playbook_view(playbook: Playbook) -> PlaybookView:
    return PlaybookView(
        playbook.id,
        one_line(playbook.name),
        one_line(playbook.description),
        tuple(one_line(str(step.get("title") or "")) for step in playbook.steps),
        tuple(_shown(parameter) for parameter in playbook.parameters),
    )


def playbook_form(
    draft: Draft,
    team: Sequence[str],
    agents: FindAgent,
    errors: Errors | None = None,
    *,
    stale: bool = False,
    focus: int = 0,
) -> PlaybookForm:
    """``team`` are the agents that a step can be given to."""
    wrong = errors or {}
    return PlaybookForm(
        name=one_line(draft.name),
        description=plain(draft.description),
        seen=draft.seen,
        steps=tuple(
            step_form(
                title=step.title,
                input=step.input,
                after=step.after,
                assignee=step.assignee,
                on_failure=step.on_failure,
                team=team,
                agents=agents,
                errors=_of(wrong, index),
            )
            for index, step in enumerate(draft.steps, 1)
        ),
        fields=tuple(step.fields for step in draft.steps),
        parameters=tuple(map(_shown, draft.parameters)),
        errors=_of(wrong, 0),
        stale=stale,
        focus=focus,
    )


def wrong_in(playbook: Playbook, team: Sequence[str]) -> Errors:
    """All that keeps it from being a plan; empty for one that is right."""
    wrong: dict[tuple[int, str], str] = {}
    if not playbook.name:
        wrong[0, "name"] = "Give it a name."
    elif len(playbook.name) > LONGEST_NAME:
        wrong[0, "name"] = f"{LONGEST_NAME} characters are the most."
    if len(playbook.description) > LONGEST_DESCRIPTION:
        wrong[0, "description"] = f"{LONGEST_DESCRIPTION} characters are the most."
    checked = check_plan(playbook.steps, team)
    if isinstance(checked, PlanRefused):
        for problem in checked.problems:
            key = problem.step, _PARTS.get(problem.part, problem.part)
            wrong[key] = " ".join(filter(None, (wrong.get(key), one_line(problem.sentence))))
    elif sentence := wrong_fields(checked.steps):
        wrong[0, ""] = one_line(sentence)
    return wrong


def _of(errors: Errors, step: int) -> dict[str, str]:
    return {part: sentence for (index, part), sentence in errors.items() if index == step}


def _shown(parameter: Parameter) -> Parameter:
    return Parameter(parameter.name, one_line(parameter.label), one_line(parameter.default))
