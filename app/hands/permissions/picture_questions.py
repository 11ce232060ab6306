"""When a picture asks: before its description goes to another machine, which costs money, and before a file is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.permissions.access import decide
from app.hands.permissions.names import shown
from app.hands.permissions.question import Denied, Judgement, Passed, Policy, Question
from app.hands.permissions.rules import WEB, Rule, find_rule
from app.hands.permissions.verdict import Category, Finding, Judged, Verdict

_NETWORK = frozenset[Category]({"network"})


@dataclass(frozen=True, slots=True)
class PictureQuestions:
    """See ``Judge``: for ``generate_image``."""

    model: str
    """``provider/model``"""
    host: str
    """Where a description goes."""
    is_here: bool
    """That is this machine."""

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        if forbidden := find_rule(policy.rules, WEB, self.host, _NETWORK, "deny"):
            return Denied(
                f"There is a rule about {forbidden.text}. Go on without a picture, or tell the user."
            )
        findings = tuple(self._findings(call))
        decision = decide(
            policy.access, Verdict((Judged(None, plain=False, findings=findings),)), confined=False
        )
        found = frozenset(finding.category for finding in findings)
        if decision.kind == "allow" or find_rule(policy.rules, call.name, self.host, found):
            return Passed()
        return Question(
            "picture",
            payload=str(call.arguments.get("prompt", "")),
            reasons=decision.reasons,
            facts=tuple(self._told(call)),
            rules=(Rule("allow", (self.host,), True, found, call.name),),
        )

    def _findings(self, call: ToolCall) -> Iterator[Finding]:
        if not self.is_here:
            along = " and the references" if call.arguments.get("references") else ""
            what = f"is another machine, is sent the description{along}, and may charge for the picture"
            yield Finding("network", self.host, what)
        yield Finding("changes", "", "it makes a file, and access is cautious")

    def _told(self, call: ToolCall) -> Iterator[tuple[str, str]]:
        yield "Model", self.model
        yield "Host", self.host
        yield "File", shown(str(call.arguments.get("path", "")))
        if references := call.arguments.get("references"):
            yield "References", shown(", ".join(map(str, references)))
