"""What stands between a call and its run: nothing, a question for the user, or a refusal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from app.engine.messages import ToolCall
from app.engine.tools import Tool

Deed = Literal["command", "read", "change", "delete", "folder", "network"]


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
    rule: str | None = None
    """What would let it pass another time; None where it could never match again."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Nobody can allow it; the sentence ends with the next valid step."""

    sentence: str


Judgement = Question | Denied | None
"""None where the call may run."""


class Judge(Protocol):
    """The policy of one conversation, its access mode included."""

    async def judge(self, call: ToolCall, tool: Tool, rules: Collection[str]) -> Judgement:
        """``rules`` are those of the user that hold now."""
        ...
