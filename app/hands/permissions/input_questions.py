"""When typing into a background job asks: whatever reads there may take it for a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.errors import Refused
from app.hands.jobs import Jobs
from app.hands.permissions.access import decide
from app.hands.permissions.question import Judgement, Passed, Policy, Question
from app.hands.permissions.rules import Rule, find_rule
from app.hands.permissions.verdict import Category, Finding, about

_TYPED = Finding("opaque", "", "what the running program does with it is not known")
_FOUND = frozenset[Category]({"opaque"})


@dataclass(frozen=True, slots=True)
class InputQuestions:
    """See ``Judge``: for ``job_write``."""

    jobs: Jobs

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        job = str(call.arguments["job_id"])
        # A job has the network, so that it is confined to its folders is not enough.
        decision = decide(policy.access, about(_TYPED), confined=False)
        if decision.kind == "allow" or find_rule(policy.rules, call.name, job, _FOUND):
            return Passed()
        return Question(
            "input",
            payload=str(call.arguments["text"]),
            reasons=decision.reasons,
            facts=tuple(self._told(job)),
            rules=(Rule("allow", (job,), exact=True, categories=_FOUND, tool=call.name),),
        )

    def _told(self, job: str) -> Iterator[tuple[str, str]]:
        yield "Job", job
        with suppress(Refused):  # there is none: the tool says so
            yield "Runs", self.jobs.load(job).command
