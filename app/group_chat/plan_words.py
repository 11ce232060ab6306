"""What is said of a plan: to the members that work on it, and by them. Pure, from values to text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from app.engine.errors import RETRYABLE
from app.engine.events import Done
from app.group_chat.hearing import NameOf, quoted
from app.group_chat.plan_check import as_set
from app.group_chat.plan_steps import Failed, Finished
from app.group_chat.plan_templates import fill
from app.group_chat.plan_values import Plan, Step
from app.group_chat.roles import COMMANDER, USER
from app.group_chat.visibility import Request, carry
from app.prompts.rendering import compose

LONGEST_SUMMARY = 1_200
"""Characters of what a step hands on."""

LONGEST_RETOLD = 12_000
"""Characters of a plan that are told again after a compaction."""

_CUT = " […]"

_END_OF_SENTENCE = re.compile(r"[.!?…](?=\s)|[。！？]|\n")

_STATES = {"in_progress": "in progress", "blocked": "waits for the user"}


def summarise(text: str) -> str:
    """The last words of a member, cut behind a sentence where they are long."""
    text = text.strip()
    if len(text) <= LONGEST_SUMMARY:
        return text
    head = text[: LONGEST_SUMMARY - len(_CUT)]
    ends = [found.end() for found in _END_OF_SENTENCE.finditer(head)]
    # A first sentence that is much shorter than what fits would say too little.
    end = ends[-1] if ends and ends[-1] > len(head) // 2 else head.rfind(" ")
    return head[: end if end > 0 else len(head)].rstrip() + _CUT


def came_of(step: int, attempt: int, done: Done, files: tuple[str, ...]) -> Finished | Failed:
    """What the end of a turn means for its step."""
    match done.status:
        case "completed":
            return Finished(step, attempt, summarise(done.text), files)
        case "aborted":
            return Failed(step, attempt, "You stopped it.")
        case "limit":
            return Failed(step, attempt, "It took as many steps as it may, or went in circles.")
        case "failed" | "interrupted":
            kind = done.error.kind if done.error else ""
            reason = done.error.message if done.error else "It was cut off."
            is_transient = done.status == "interrupted" or kind in RETRYABLE
            return Failed(step, attempt, reason, transient=is_transient)


def told_for(plan: Plan, step: Step, name_of: NameOf) -> str:
    """What its member hears when the step begins: what other members hand on is in a frame, and orders nothing."""

    def quote(done: Step, summary: str) -> str:
        by_user = done.assignee == USER
        return (
            summary if by_user else quoted(name_of(done.assignee), f"the plan, of step {done.index}", summary)
        )

    job = fill(step.template, plan, quote)
    if step.assignee == COMMANDER:
        return compose("plan_step", number=step.index, title=step.title, input=job)
    return carry((plan.request,), Request(job)).text


def told_of_failure(plan: Plan, step: Step, name_of: NameOf) -> str:
    """What Commander hears of a step that failed."""
    return compose(
        "plan_failed",
        number=step.index,
        title=step.title,
        name=name_of(step.assignee),
        reason=step.failure_reason,
        board=list(board_lines(plan, name_of)),
    )


def retold(plan: Plan) -> str:
    """What Commander hears of its plan once its history was compacted: each step as it set it, and how it stands.

    Of a plan that is too long for that, only the steps that are open; of one that still is, their titles.
    """
    for steps in (plan.steps, [step for step in plan.steps if not step.is_over]):
        text = "\n".join(
            f"{step.index}. {_state(step)}: {json.dumps(as_set(step), ensure_ascii=False)}" for step in steps
        )
        if len(text) <= LONGEST_RETOLD:
            return text
    return "\n".join(board_lines(plan, str))


def board_lines(plan: Plan, name_of: NameOf) -> Iterator[str]:
    """A line for each step."""
    for step in plan.steps:
        after = f", after {', '.join(map(str, step.wait_for))}" if step.wait_for else ""
        yield f"{step.index}. {step.title} ({name_of(step.assignee)}{after}): {_state(step)}"


def _state(step: Step) -> str:
    return _STATES.get(step.status, step.status)
