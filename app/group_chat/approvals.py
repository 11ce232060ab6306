"""The questions of one turn: each call that has to ask waits here until the user has answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

import anyio

from app.engine.approval import AskFn
from app.engine.events import Approval
from app.engine.messages import ToolCall
from app.engine.tools import Tool, ToolOutput
from app.group_chat.errors import NothingToDecide, UnknownDecision
from app.hands.permissions.names import shown, shown_in_lines
from app.hands.permissions.permit import Permit, Permits
from app.hands.permissions.question import Denied, Judge, Passed, Policy, Question
from app.hands.permissions.rules import FOLDERS, LASTING, Rule
from app.infra.ids import NewId

Decision = Literal["allow_once", "allow_run", "allow_always", "deny"]
TOO_LATE = "This request has already ended, nothing was run."
DECISIONS: tuple[Decision, ...] = get_args(Decision)


class Permissions(Protocol):
    """What the user allowed for good: the seam to where it is kept."""

    def policy(self) -> Policy:
        """As it is now. Raises ``StorageError``, ``NotFound``."""
        ...

    def add(self, rule: Rule) -> None:
        """Raises ``StorageError``."""
        ...


@dataclass(slots=True)
class Waiting:
    """One question and, later, its answer."""

    id: str
    call: ToolCall
    tool: Tool
    question: Question
    answered: anyio.Event = field(default_factory=anyio.Event)
    decision: Decision | None = None
    reason: str = ""
    with_network: bool = False

    @property
    def permit(self) -> Permit:
        """What the call may do once it is allowed."""
        permit = self.question.permit
        return replace(permit, network=True) if self.with_network else permit

    def answer(self, decision: Decision, reason: str = "") -> None:
        self.decision, self.reason = decision, reason
        self.answered.set()

    @property
    def offers(self) -> tuple[Decision, ...]:
        """What the user may choose: for more than once only where a rule could match again."""
        if not self.question.rules:
            return "allow_once", "deny"
        lasts = all(rule.categories <= LASTING for rule in self.question.rules if rule.tool != FOLDERS)
        return DECISIONS if lasts else ("allow_once", "allow_run", "deny")


class Approvals:
    """The gate of one turn. ``decided`` is told of every answer, for the chat to show it."""

    def __init__(
        self,
        judge: Judge,
        permissions: Permissions,
        permits: Permits,
        new_id: NewId,
        decided: Callable[[Waiting, Decision, str], None],
    ) -> None:
        """``permits`` is told what each call may do."""
        self._judge = judge
        self._permissions = permissions
        self._permits = permits
        self._new_id = new_id
        self._decided = decided
        self._for_run: list[Rule] = []
        self._waiting: dict[str, Waiting] = {}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The oldest first."""
        return tuple(self._waiting.values())

    def has(self, id: str) -> bool:
        return id in self._waiting

    async def admit(self, call: ToolCall, tool: Tool, ask: AskFn) -> ToolOutput | None:
        """See ``Gate``."""
        match await self._judged(call, tool):
            case Passed(permit):
                self._permits.allow(call.id, permit)
                return None
            case Denied(sentence):
                return ToolOutput.failed("E_DENIED", sentence)
            case Question() as question:
                return await self._asked(Waiting(self._new_id("ask"), call, tool, question), ask)

    async def decide(
        self, id: str, decision: str, reason: str = "", rule: int = 0, *, network: bool = False
    ) -> None:
        """Answer one question; a rule that comes of it answers all that it covers.

        ``rule``: which of those offered; ``network``: it may reach that as well, where the question leaves it open.

        Raises ``NothingToDecide``, ``UnknownDecision``, ``StorageError``; then nothing is decided.
        """
        waiting = self._waiting.get(id)
        if waiting is None:
            raise NothingToDecide(TOO_LATE)
        if decision not in waiting.offers:
            raise UnknownDecision(f"Choose one of: {', '.join(waiting.offers)}.")
        if decision in ("allow_run", "allow_always"):
            self._remember(waiting.question.rules, rule, for_good=decision == "allow_always")
        waiting.with_network = network and waiting.question.may_add_network
        self._answer(waiting, decision, reason)
        if decision in ("allow_run", "allow_always"):
            await self.settle(decision)

    async def settle(self, decision: Decision) -> None:
        """Answer so whatever waits and would not be asked about any more."""
        for other in self.waiting:
            match await self._judged(other.call, other.tool):
                case Passed() if other.id in self._waiting:
                    self._answer(other, decision)

    def _remember(self, offered: Sequence[Rule], number: int, *, for_good: bool) -> None:
        if not 0 <= number < len(offered):
            raise UnknownDecision("Choose one of the rules that are shown.")
        if for_good:
            self._permissions.add(offered[number])
        else:
            self._for_run.append(offered[number])

    async def _judged(self, call: ToolCall, tool: Tool) -> Question | Passed | Denied:
        policy = self._permissions.policy()
        return await self._judge.judge(call, tool, replace(policy, rules=[*policy.rules, *self._for_run]))

    async def _asked(self, waiting: Waiting, ask: AskFn) -> ToolOutput | None:
        self._waiting[waiting.id] = waiting
        try:
            ask(Approval(waiting.id, waiting.call.id, waiting.question.deed, subject(waiting)))
            await waiting.answered.wait()
        finally:
            self._waiting.pop(waiting.id, None)
        if waiting.decision != "deny":
            self._permits.allow(waiting.call.id, waiting.permit)
            return None
        why = f' They say: "{waiting.reason}".' if waiting.reason else ""
        return ToolOutput.failed(
            "E_DENIED",
            f"The user denied this.{why} Do not try to reach the same in another way; go on without it, or ask what "
            "to do instead.",
        )

    def _answer(self, waiting: Waiting, decision: Decision, reason: str = "") -> None:
        self._waiting.pop(waiting.id, None)
        waiting.answer(decision, reason)
        self._decided(waiting, decision, reason)


def subject(waiting: Waiting) -> dict[str, Any]:
    """What is shown of a question, as JSON: signs that do not show are written out, so that nothing hides in it."""
    question = waiting.question
    return {
        "tool": waiting.call.name,
        "payload": shown_in_lines(question.payload),
        "reasons": [shown(reason) for reason in question.reasons],
        "facts": [[name, shown(value)] for name, value in question.facts],
        "steps": [_shown_step(step) for step in question.steps],
        "rules": [shown(rule.text) for rule in question.rules],
        "offers": list(waiting.offers),
        "may_add_network": question.may_add_network,
    }


def _shown_step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shown_in_lines(value) if isinstance(value, str) else value for name, value in step.items()}
