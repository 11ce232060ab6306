"""From the steps that a model or a playbook gives to a plan, or to what is wrong with them, all of it at once.

A step waits for earlier ones only, so no plan has a circle in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from app.group_chat.plan_templates import OUTPUTS, Reference, references
from app.group_chat.plan_values import OnFailure, Plan, Step
from app.group_chat.roles import COMMANDER, USER
from app.group_chat.visibility import NO_REQUEST, Request

MOST_STEPS = 100

GIVEN = ("index", "title", "assignee", "input", "wait_for", "on_failure", "fields")
"""What a step may be given; all else is the executor's."""

Reason = Literal[
    "no_steps",
    "too_many_steps",
    "bad_step",
    "unknown_field",
    "bad_index",
    "duplicate_index",
    "bad_title",
    "unknown_assignee",
    "bad_input",
    "bad_on_failure",
    "bad_fields",
    "unknown_reference",
    "self_reference",
    "later_reference",
    "bad_template",
    "not_pending",
]


@dataclass(frozen=True, slots=True)
class Problem:
    reason: Reason
    sentence: str
    """What is wrong and what would be right, for a model as for a user."""
    step: int = 0
    """Which step is wrong; 0 for the plan as a whole."""
    part: str = ""
    """What of it, one of ``GIVEN``; empty for all of it."""


@dataclass(frozen=True, slots=True)
class PlanRefused:
    problems: tuple[Problem, ...]

    @property
    def sentence(self) -> str:
        return " ".join(problem.sentence for problem in self.problems)


def check_plan(
    given: Sequence[Mapping[str, Any]],
    members: Collection[str],
    request: Request = NO_REQUEST,
    parallel: int = 1,
) -> Plan | PlanRefused:
    """A plan that can run, in any order of its steps. ``members`` are the ids of the agents in the room."""
    assignees = (USER, COMMANDER, *sorted(set(members) - {USER, COMMANDER}))
    problems = tuple(_problems(given, assignees))
    if problems:
        return PlanRefused(problems)
    steps = sorted(map(_step, given), key=lambda step: step.index)
    return Plan(tuple(steps), request, parallel)


def edit_step(
    plan: Plan, index: int, changes: Mapping[str, Any], members: Collection[str]
) -> Plan | PlanRefused:
    """The plan with one pending step changed by the user, checked as a new one is."""
    step = plan.find(index)
    if step is None or step.status != "pending":
        return PlanRefused(
            (Problem("not_pending", f"Step {index} has begun or ended and cannot be changed."),)
        )
    given = [_given(one) | (dict(changes) if one is step else {}) for one in plan.steps]
    checked = check_plan(given, members)
    if isinstance(checked, PlanRefused):
        return checked
    changed = checked.steps[index - 1]
    return plan.with_step(replace(changed, attempt=step.attempt, requeued=step.requeued))


def keep_results(new: Plan, old: Plan) -> Plan:
    """A plan that follows another one: a step that is the very same, and waits for none that is not, stays done."""
    kept: set[int] = set()
    for step in new.steps:
        before = old.find(step.index)
        is_same = before is not None and _given(before) == _given(step)
        if before is not None and is_same and before.status == "done" and kept.issuperset(step.wait_for):
            kept.add(step.index)
            new = new.with_step(before)
    return new


def as_set(step: Step) -> dict[str, Any]:
    """A step as ``set_plan`` takes it, word for word the same again, without what goes without saying."""
    usual = {"input": "", "on_failure": "ask_commander", "fields": ()}
    return {name: value for name, value in _given(step).items() if value != usual.get(name)}


def _given(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in GIVEN}


def _step(given: Mapping[str, Any]) -> Step:
    index = given["index"]
    named = {reference.step for reference in references(given.get("input") or given["title"])}
    before = [index - 1] if index > 1 else []
    wait_for = given.get("wait_for")
    return Step(
        index=index,
        title=given["title"],
        assignee=given["assignee"],
        input=given.get("input") or "",
        wait_for=tuple(sorted({*(before if wait_for is None else wait_for), *named})),
        on_failure=given.get("on_failure") or "ask_commander",
        fields=tuple(given.get("fields") or ()),
    )


def _problems(given: Sequence[Any], assignees: Sequence[str]) -> Iterator[Problem]:
    if not given:
        yield Problem("no_steps", "The plan has no steps. Give at least one.")
    if len(given) > MOST_STEPS:
        yield Problem("too_many_steps", f"The plan has {len(given)} steps; {MOST_STEPS} are the most.")
    misnumbered = list(_misnumbered(given))
    yield from misnumbered
    if misnumbered:
        return
    for step in given:
        for problem in (*_wrong_values(step, assignees), *_wrong_references(step, len(given))):
            yield replace(problem, step=step["index"])


def _misnumbered(given: Sequence[Any]) -> Iterator[Problem]:
    """Steps are told apart by their index: while it is wrong, nothing else can be judged."""
    if not all(isinstance(step, Mapping) for step in given):
        yield Problem("bad_step", "Each step is an object with index, title and assignee.")
        return
    indexes = [step.get("index") for step in given]
    wrong = [index for index in indexes if type(index) is not int or index < 1]
    if wrong:
        yield Problem("bad_index", f"An index is a whole number from 1, not {_words(wrong)}.")
        return
    twice = [index for index, count in Counter(indexes).items() if count > 1]
    if twice:
        yield Problem("duplicate_index", f"More than one step has the index {_words(twice)}.")
    elif sorted(indexes) != list(range(1, len(given) + 1)):
        yield Problem(
            "bad_index", f"Number the steps from 1 to {len(given)} without gaps, not {_words(indexes)}."
        )


def _wrong_values(step: Mapping[str, Any], assignees: Sequence[str]) -> Iterator[Problem]:
    named = f"Step {step['index']}"
    if unknown := [name for name in step if name not in GIVEN]:
        yield Problem("unknown_field", f"{named} has {_words(unknown)}; it takes {', '.join(GIVEN)}.")
    if not _is_text(step.get("title")):
        yield Problem("bad_title", f"{named} needs a title.", part="title")
    if step.get("assignee") not in assignees:
        choice = ", ".join(assignees)
        given_to = f"{named} is given to {step.get('assignee')!r}. It can be one of: {choice}."
        yield Problem("unknown_assignee", given_to, part="assignee")
    if not isinstance(step.get("input", ""), str | None):
        yield Problem("bad_input", f"The input of {named.lower()} is a text.", part="input")
    if step.get("on_failure") not in (None, *get_args(OnFailure)):
        choice = ", ".join(get_args(OnFailure))
        yield Problem(
            "bad_on_failure", f"on_failure of {named.lower()} is one of: {choice}.", part="on_failure"
        )
    if not isinstance(step.get("fields"), list | tuple | None):
        yield Problem(
            "bad_fields", f"The fields of {named.lower()} are a list, as in ask_user.", part="fields"
        )
    elif step.get("fields") and step.get("assignee") != USER:
        yield Problem("bad_fields", f"{named} has fields, which only a step of the user has.", part="fields")


def _wrong_references(step: Mapping[str, Any], count: int) -> Iterator[Problem]:
    index = step["index"]
    wait_for = step.get("wait_for")
    if not isinstance(wait_for, list | tuple | None):
        yield Problem(
            "unknown_reference", f"wait_for of step {index} is a list of earlier steps.", part="wait_for"
        )
        return
    for target in wait_for or ():
        for problem in _wrong_reference(index, target, count, "waits for"):
            yield replace(problem, part="wait_for")
    part = "input" if step.get("input") else "title"
    template = step.get(part)
    for reference in references(template) if isinstance(template, str) else ():
        for problem in _wrong_template(index, reference, count):
            yield replace(problem, part=part)


def _wrong_template(index: int, reference: Reference, count: int) -> Iterator[Problem]:
    yield from _wrong_reference(index, reference.step, count, "takes the output of")
    if reference.output not in OUTPUTS:
        yield Problem(
            "bad_template",
            f'Step {index} wants "{reference.output}" of step {reference.step}; there is {" and ".join(OUTPUTS)}.',
        )


def _wrong_reference(index: int, target: Any, count: int, does: str) -> Iterator[Problem]:
    if type(target) is not int or not 1 <= target <= count:
        yield Problem("unknown_reference", f"Step {index} {does} step {target!r}, which does not exist.")
    elif target == index:
        yield Problem("self_reference", f"Step {index} {does} itself.")
    elif target > index:
        yield Problem(
            "later_reference",
            f"Step {index} {does} step {target}, which comes later. Number the steps so that each one follows those"
            " it waits for.",
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _words(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values))
