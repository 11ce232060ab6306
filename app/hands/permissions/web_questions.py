"""When the web asks: each host once, before anything is sent there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.messages import ToolCall
from app.engine.tools import Tool, ToolContext
from app.hands.errors import Refused
from app.hands.permissions.access import decide
from app.hands.permissions.permit import Permit, Permits
from app.hands.permissions.question import Denied, Judgement, Passed, Policy, Question
from app.hands.permissions.rules import WEB, Rule, find_rule
from app.hands.permissions.verdict import Category, Finding, about
from app.hands.tool import Arguments

if TYPE_CHECKING:
    from app.hands.web_address import WebAddress

_FOUND = frozenset[Category]({"network"})
_ANY = "any"


@dataclass(frozen=True, slots=True)
class WebQuestions:
    """See ``Judge``: for ``web_fetch`` and ``web_search``."""

    addresses: Mapping[str, Callable[[Arguments], WebAddress]]
    """Where a call would go, by tool. Raises ``Refused`` where it goes nowhere."""

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        try:
            address = self.addresses[call.name](call.arguments)
        except Refused:
            return Passed()  # the tool says it better
        if forbidden := find_rule(policy.rules, WEB, address.host, _FOUND, "deny"):
            return Denied(f"There is a rule about {forbidden.text}. Use another source, or tell the user.")
        decision = decide(policy.access, about(_sends(address, call)), confined=False)
        allowed = frozenset(
            rule.words[0]
            for rule in policy.rules
            if rule.tool == WEB and rule.answer == "allow" and rule.words
        )
        if decision.kind == "allow" or find_rule(policy.rules, WEB, _ANY, _FOUND):
            return Passed(Permit(hosts=None))
        if address.host in allowed:
            return Passed(Permit(hosts=allowed))
        return Question(
            "network",
            payload=_payload(address, call),
            reasons=decision.reasons,
            facts=(("Host", address.host),),
            # The rule about a host of this name would be the one about all.
            rules=() if address.host == _ANY else (_allowed(address.host), _allowed(_ANY)),
            permit=Permit(hosts=allowed | {address.host}),
        )


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """See ``web_ask.Ask``: redirects go on only to where the call may go, since nobody can be asked half-way."""

    permits: Permits

    async def ask(self, address: WebAddress, context: ToolContext) -> None:
        hosts = self.permits.find(context.call_id).hosts
        if hosts is None or _bare(address.host) in {_bare(host) for host in hosts}:
            return
        raise Refused(
            "E_DENIED",
            f"It leads on to another host, {address.host}. Fetch {address} by itself, so that the user can decide.",
        )


def _allowed(host: str) -> Rule:
    return Rule("allow", (host,), True, _FOUND, WEB)


def _sends(address: WebAddress, call: ToolCall) -> Finding:
    what = "sends the words of the search to it" if call.name == "web_search" else "sends it this address"
    return Finding("network", address.host, f"is another machine, and {call.name} {what}")


def _payload(address: WebAddress, call: ToolCall) -> str:
    return str(call.arguments["query"]) if "query" in call.arguments else str(address)


def _bare(host: str) -> str:
    return host.removeprefix("www.")
