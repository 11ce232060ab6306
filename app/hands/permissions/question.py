"""What stands between a call and its run: nothing, a question for the user, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.permissions.access import AccessMode
from app.hands.permissions.permit import NOTHING_MORE, Permit
from app.hands.permissions.rules import Rule

Deed = Literal[
    "command", "input", "read", "change", "delete", "folder", "network", "picture", "plan", "agent"
]


@dataclass(frozen=True, slots=True)
class Question:
    """What the user is asked before a call runs; it is shown to him as it stands here."""

    deed: Deed
    payload: str
    """Exactly what would be done: the command, or the change."""
    reasons: tuple[str, ...]
    """Why it asks, a sentence each."""
    facts: tuple[tuple[str, str], ...] = ()
    """What else there is to know: a name and a value each."""
    steps: tuple[Mapping[str, Any], ...] = ()
    """Of a plan: the payload step by step, to be drawn; each has index, title, assignee, input and wait_for."""
    rules: tuple[Rule, ...] = ()
    """Each would let it pass another time, the narrowest first; none where it could never match again."""
    permit: Permit = NOTHING_MORE
    """What the call may do once it is allowed."""
    may_add_network: bool = False
    """The user may allow it the network as well, where nobody can tell whether it needs that."""


@dataclass(frozen=True, slots=True)
class Passed:
    """It may run without a question."""

    permit: Permit = NOTHING_MORE


@dataclass(frozen=True, slots=True)
class Denied:
    """Nobody can allow it; the sentence ends with the next valid step."""

    sentence: str


Judgement = Question | Passed | Denied


@dataclass(frozen=True, slots=True)
class Policy:
    """What the user lets a conversation do at the moment of a call."""

    access: AccessMode
    rules: Sequence[Rule] = ()
    """Those that hold now."""


class Judge(Protocol):
    """Holds a call against what the user allows."""

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement: ...
