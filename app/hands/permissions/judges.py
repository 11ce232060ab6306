"""Who judges a call: each tool that can do harm has its judge, and what nobody knows is judged by the mode alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.engine.messages import ToolCall
from app.engine.tools import HandsOver, Tool
from app.hands.permissions.access import decide
from app.hands.permissions.question import Judge, Judgement, Passed, Policy, Question
from app.hands.permissions.verdict import Finding, about

_CHANGES = Finding("changes", "", "it changes something, and access is cautious")


@dataclass(frozen=True, slots=True)
class Judges:
    """See ``Judge``: hands a call to the judge of its tool.

    Who hands work over to others changes nothing by that: what they do is judged when they do it.
    """

    by_tool: Mapping[str, Judge]

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        if judge := self.by_tool.get(call.name):
            return await judge.judge(call, tool, policy)
        decision = decide(policy.access, about(_CHANGES), confined=False)
        changes_nothing = tool.read_only or isinstance(tool, HandsOver)
        if changes_nothing or decision.kind == "allow":
            return Passed()
        lines = "\n".join(f"{name}: {value}" for name, value in call.arguments.items())
        return Question("change", payload=lines or call.name, reasons=decision.reasons)
