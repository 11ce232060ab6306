"""The executor of a plan: from a plan and one thing that happened to the plan afterwards and what to do about it.

Pure, so asking twice does nothing twice: what does not fit the state of its step changes nothing. The driver calls
it under the conversation's lock, stores the plan, and then does what the effects say, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, assert_never

from app.group_chat.plan_templates import fill
from app.group_chat.plan_values import Plan, Status, Step
from app.group_chat.roles import COMMANDER, USER

MOST_REQUEUES = 3
"""Transient failures of a step that nobody hears of."""

BY_USER = "You skipped it."


@dataclass(frozen=True, slots=True)
class Looked:
    """Nothing happened: a plan begins, or a process has started again. Begins what is ready."""


@dataclass(frozen=True, slots=True)
class Finished:
    step: int
    attempt: int
    summary: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """``transient``: the same may well succeed when it is tried again, a dropped connection for one."""

    step: int
    attempt: int
    reason: str
    transient: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The member of a step waits for an answer of the user."""

    step: int
    attempt: int
    question: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The form of a step was sent: that of a user's step, or one of its member."""

    step: int
    text: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retried:
    """By the user: a step that failed is tried again, with those that were skipped because of it."""

    step: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """By the user: the others go on without a step that waits, is blocked or failed."""

    step: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """By the user, for the whole conversation: what ran is at its beginning again, and nothing begins."""


@dataclass(frozen=True, slots=True)
class WentOn:
    """By the user, after a stop."""


PlanEvent = Looked | Finished | Failed | Asked | Answered | Retried | Skipped | Stopped | WentOn

EffectKind = Literal["dispatch", "wake", "form", "resume", "end", "requeue", "skip", "ask_commander"]


@dataclass(frozen=True, slots=True)
class Effect:
    """Something to do, or to tell.

    ``dispatch`` a member and ``wake`` Commander with ``text``; show it as a ``form``; ``resume`` the run of this very
    attempt with it as the answer; ``end`` came with ``status``; ``requeue`` is silent; of a ``skip`` a run or form
    that still waits is dropped; ``ask_commander`` about a failure whose reason is ``text``.
    """

    kind: EffectKind
    step: int
    attempt: int = 0
    text: str = ""
    status: Status | None = None


class Advance(NamedTuple):
    plan: Plan
    effects: tuple[Effect, ...]


def advance(plan: Plan, event: PlanEvent) -> Advance:
    """What becomes of a plan. No step begins twice for one attempt, and none before those it waits for are over."""
    taken, effects = _take(plan, event)
    settled, begun = _begin_ready(taken)
    return Advance(settled, (*effects, *begun))


Change = tuple[Plan, Sequence[Effect]]


def _take(plan: Plan, event: PlanEvent) -> Change:
    match event:
        case Looked():
            return plan, ()
        case Stopped():
            return _stop(plan), ()
        case WentOn():
            return replace(plan, stopped=False), ()
        case Finished() | Failed() | Asked():
            step = plan.find(event.step)
            is_its = step is not None and (step.status, step.attempt) == ("in_progress", event.attempt)
            return _reported(plan, step, event) if step is not None and is_its else (plan, ())
        case Answered() | Retried() | Skipped():
            step = plan.find(event.step)
            return _acted(plan, step, event) if step is not None else (plan, ())
        case _:
            assert_never(event)


def _reported(plan: Plan, step: Step, event: Finished | Failed | Asked) -> Change:
    """A run of the step said how it is."""
    match event:
        case Finished(summary=summary, files=files):
            return _finish(plan, step, summary, files)
        case Failed(reason=reason, transient=transient):
            return _fail(plan, step, reason, transient)
        case Asked(question=question):
            form = () if plan.aborted_by else (Effect("form", step.index, step.attempt, question),)
            return plan.with_step(replace(step, status="blocked")), form
        case _:
            assert_never(event)


def _acted(plan: Plan, step: Step, event: Answered | Retried | Skipped) -> Change:
    """The user did something about the step."""
    match event:
        case Answered(text=text, files=files) if step.status == "blocked":
            if step.assignee == USER:
                return _finish(plan, step, text, files)
            resume = Effect("resume", step.index, step.attempt, text)
            return plan.with_step(replace(step, status="in_progress")), (resume,)
        case Retried() if step.status == "failed":
            return _retry(plan, step), ()
        case Skipped() if step.status in ("pending", "blocked", "failed"):
            return _skip(plan, (step,), BY_USER)
        case _:
            return plan, ()


def _finish(plan: Plan, step: Step, summary: str, files: tuple[str, ...]) -> Change:
    done = replace(step, status="done", output_summary=summary, output_files=files, failure_reason="")
    return plan.with_step(done), (Effect("end", step.index, step.attempt, summary, "done"),)


def _fail(plan: Plan, step: Step, reason: str, transient: bool) -> Change:
    if transient and step.requeued < MOST_REQUEUES:
        waiting = replace(step, status="pending", requeued=step.requeued + 1)
        return plan.with_step(waiting), (Effect("requeue", step.index, step.attempt, reason),)
    status: Status = "skipped" if step.on_failure == "continue" else "failed"
    plan = plan.with_step(replace(step, status=status, failure_reason=reason))
    end = Effect("end", step.index, step.attempt, reason, status)
    match step.on_failure:
        case "abort_plan" | "continue":
            return plan, (end,)
        case "ask_commander":
            return plan, (end, Effect("ask_commander", step.index, step.attempt, reason))
        case _:
            assert_never(step.on_failure)


def _stop(plan: Plan) -> Plan:
    for step in plan.having("in_progress", "blocked"):
        plan = plan.with_step(replace(step, status="pending"))
    return replace(plan, stopped=True)


def _retry(plan: Plan, failed: Step) -> Plan:
    for step in (failed, *plan.having("skipped")):
        if step is failed or step.failure_reason == _because_of(failed):
            plan = plan.with_step(replace(step, status="pending", failure_reason="", requeued=0))
    return replace(plan, stopped=False)


def _skip(plan: Plan, steps: Sequence[Step], reason: str) -> Change:
    for step in steps:
        plan = plan.with_step(replace(step, status="skipped", failure_reason=reason))
    return plan, tuple(Effect("skip", step.index, step.attempt, reason) for step in steps)


def _because_of(failed: Step) -> str:
    return f"Step {failed.index} failed, and the plan with it."


def _begin_ready(plan: Plan) -> Change:
    if plan.stopped:
        return plan, ()
    if failed := plan.aborted_by:
        return _skip(plan, plan.having("pending", "blocked"), _because_of(failed))
    effects: list[Effect] = []
    while step := _next_ready(plan):
        plan, effect = _begin(plan, step)
        effects.append(effect)
    return plan, effects


def _next_ready(plan: Plan) -> Step | None:
    """The first step that may begin now. A plan that waits for the user begins nothing."""
    if plan.having("blocked") or len(plan.having("in_progress")) >= plan.parallel:
        return None
    over = {step.index for step in plan.steps if step.is_over}
    return next((step for step in plan.having("pending") if over.issuperset(step.wait_for)), None)


def _begin(plan: Plan, step: Step) -> tuple[Plan, Effect]:
    begun = replace(
        step, status="blocked" if step.assignee == USER else "in_progress", attempt=step.attempt + 1
    )
    kinds: dict[str, EffectKind] = {USER: "form", COMMANDER: "wake"}
    kind = kinds.get(step.assignee, "dispatch")
    return plan.with_step(begun), Effect(kind, step.index, begun.attempt, fill(step.template, plan))
