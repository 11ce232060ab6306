"""When setting a plan asks: in cautious access the user sees all its steps first, since they begin by themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.group_chat.plan_check import PlanRefused, check_plan
from app.group_chat.plan_values import Plan
from app.hands.permissions.access import decide
from app.hands.permissions.question import Judgement, Passed, Policy, Question
from app.hands.permissions.verdict import Finding, about

_DRAWN = ("index", "title", "assignee", "input", "wait_for")

_BEGINS = Finding("changes", "", "its steps begin by themselves, and access is cautious")


@dataclass(frozen=True, slots=True)
class PlanQuestions:
    """See ``Judge``: for ``set_plan``. One that cannot run is not asked about: the tool says what is wrong with it."""

    member_ids: Callable[[], Collection[str]]

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        decision = decide(policy.access, about(_BEGINS), confined=False)
        plan = check_plan(call.arguments["steps"], self.member_ids())
        if decision.kind == "allow" or isinstance(plan, PlanRefused):
            return Passed()
        steps = tuple({part: getattr(step, part) for part in _DRAWN} for step in plan.steps)
        return Question("plan", payload="\n".join(_lines(plan)), reasons=decision.reasons, steps=steps)


def _lines(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        after = f", after {', '.join(map(str, step.wait_for))}" if step.wait_for else ""
        yield f"{step.index}. {step.title} ({step.assignee}{after})"
        if step.input:
            yield from (f"   {line}" for line in step.input.splitlines())
