"""When typing into a background job asks: whatever reads there may take it for a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.permissions.access import AccessMode, decide
from app.hands.permissions.question import Judgement, Passed, Question
from app.hands.permissions.rules import Rule, find_rule
from app.hands.permissions.verdict import Category, Finding, about

_TYPED = Finding("opaque", "", "what the running program does with it is not known")
_FOUND = frozenset[Category]({"opaque"})


@dataclass(frozen=True, slots=True)
class InputQuestions:
    """See ``Judge``: for ``job_write``."""

    access: AccessMode

    async def judge(self, call: ToolCall, tool: Tool, rules: Sequence[Rule]) -> Judgement:
        job = str(call.arguments["job_id"])
        # A job has the network, so that it is confined to its folders is not enough.
        decision = decide(self.access, about(_TYPED), confined=False)
        if decision.kind == "allow" or find_rule(rules, call.name, job, _FOUND):
            return Passed()
        return Question(
            "input",
            payload=str(call.arguments["text"]),
            reasons=decision.reasons,
            facts=(("Job", job),),
            rules=(Rule("allow", (job,), exact=True, categories=_FOUND, tool=call.name),),
        )
