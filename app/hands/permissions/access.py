"""From a verdict to what happens: allow, ask or deny, by the access mode that the user chose.

One table for commands and file tools alike. ``changes`` is everyday work, so only Cautious asks about it. Trusted
lets through whatever stays on this machine or was asked for in plain sight, and still asks about files that may hold
secrets, where a way back is missing, where data may leave, and where nobody can tell. Some acts have no button in any
mode: what they destroy does not come back, or they give the agent rights with which it could allow itself the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.hands.permissions.verdict import Category, Finding, Verdict

AccessMode = Literal["cautious", "standard", "trusted"]
Answer = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Decision:
    """``reasons``: sentences for a dialog or for the model, the worst first."""

    kind: Answer
    reasons: tuple[str, ...] = ()


ALLOWED = Decision("allow")

_ASKS: Mapping[AccessMode, frozenset[Category]] = {
    "cautious": frozenset(
        {
            *("changes", "network", "outside", "dotenv", "deletes", "install", "publish", "opaque"),
            *("sensitive", "exfiltration", "destructive", "privilege"),
        }
    ),
    "standard": frozenset(
        {
            *("network", "outside", "dotenv", "deletes", "install", "publish", "opaque"),
            *("sensitive", "exfiltration", "destructive", "privilege"),
        }
    ),
    "trusted": frozenset({"dotenv", "opaque", "sensitive", "exfiltration", "destructive", "privilege"}),
}


def decide(mode: AccessMode, verdict: Verdict, *, confined: bool) -> Decision:
    """``confined``: the machine itself keeps a command to its folders, so Trusted need not ask about what is opaque."""
    never = [finding for finding in verdict.findings if finding.never]
    if never:
        return Decision("deny", tuple(finding.sentence for finding in never))
    asking = [finding for finding in verdict.findings if asks_about(finding, mode, confined=confined)]
    return Decision("ask", tuple(finding.sentence for finding in asking)) if asking else ALLOWED


def asks_about(finding: Finding, mode: AccessMode, *, confined: bool) -> bool:
    """Whether the user is asked about one finding. What could not be taken apart asks in every mode."""
    if mode == "trusted" and finding.category == "opaque" and confined and not finding.unread:
        return False
    return finding.category in _ASKS[mode]
