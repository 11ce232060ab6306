"""Where a call may go: what asks, what a rule covers, and how far a redirect may lead."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.messages import ToolCall
from app.engine.tools import ToolContext
from app.hands.errors import Refused
from app.hands.permissions.access import AccessMode
from app.hands.permissions.permit import Permit, Permits
from app.hands.permissions.question import Denied, Judgement, Passed, Policy, Question
from app.hands.permissions.rules import WEB, Rule
from app.hands.permissions.verdict import Category
from app.hands.permissions.web_questions import AllowedHosts, WebQuestions
from app.hands.web import web_addresses, web_tools
from app.hands.web_address import web_address

pytestmark = pytest.mark.anyio

NETWORK = frozenset[Category]({"network"})


def about(host: str, answer: Any = "allow") -> Rule:
    return Rule(answer, (host,), True, NETWORK, WEB)


async def judged(url: str, *rules: Rule, access: AccessMode = "standard") -> Judgement:
    call = ToolCall("c1", "web_fetch", {"url": url})
    judge = WebQuestions(web_addresses())
    return await judge.judge(call, web_tools()["web_fetch"], Policy(access, rules))


async def goes_on(permit: Permit, url: str) -> bool:
    """Whether a redirect of a call with that permit may lead there."""
    permits = Permits()
    permits.allow("c1", permit)
    try:
        await AllowedHosts(permits).ask(web_address(url), ToolContext("c1", lambda *_: None))
    except Refused:
        return False
    return True


async def test_an_allowed_call_goes_on_within_its_host_and_what_rules_allow() -> None:
    question = await judged("https://a.example/x", about("b.example"))
    assert isinstance(question, Question)
    assert await goes_on(question.permit, "https://a.example/y")
    assert await goes_on(question.permit, "https://www.a.example/y")
    assert await goes_on(question.permit, "https://b.example/")
    for other in ("https://c.example/", "https://a.example.c.example/", "https://sub.a.example/"):
        assert not await goes_on(question.permit, other)


async def test_a_call_that_nobody_allowed_goes_nowhere() -> None:
    assert not await goes_on(Permit(), "https://a.example/")


@pytest.mark.parametrize(
    "url", ["https://a.example.c.example/", "https://c.example/a.example", "http://a-example/"]
)
async def test_a_rule_about_one_host_covers_no_other(url: str) -> None:
    assert isinstance(await judged("https://a.example/?k=v", about("a.example")), Passed)
    assert isinstance(await judged(url, about("a.example")), Question)


async def test_a_rule_about_all_hosts_is_offered_and_covers_them() -> None:
    question = await judged("https://a.example/")
    assert isinstance(question, Question)
    assert [rule.text for rule in question.rules] == ["web: a.example", "web: any"]
    passed = await judged("https://b.example/", question.rules[1])
    assert isinstance(passed, Passed)
    assert await goes_on(passed.permit, "https://c.example/")


async def test_a_host_called_any_gets_no_rule_that_would_cover_all() -> None:
    question = await judged("https://any/")
    assert isinstance(question, Question)
    assert question.rules == ()


async def test_a_rule_that_denies_wins_in_every_mode() -> None:
    rules = (about("any"), about("a.example", "deny"))
    assert isinstance(await judged("https://a.example/", *rules, access="trusted"), Denied)
    assert isinstance(await judged("https://b.example/", *rules, access="trusted"), Passed)
