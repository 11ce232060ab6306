"""What Commander is told of working with others: only of what is on offer, and each rule once."""

from __future__ import annotations

import pytest

from app.prompts.rendering import compose

VALUES = {"workspace": "/w", "instructions": [], "system": "Linux", "date": "2026-12-01"}
TEAM = ("run_worker", "dispatch_to", "hand_off_to")


def told(*tools: str) -> str:
    return compose("commander", tools=tools, **VALUES)


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ("dispatch_to", "where the job is what its description says"),
        ("run_worker", "`run_worker` is for pieces of your own work"),
        ("hand_off_to", "Your turn ends with it"),
        ("ask_user", "Ask by `ask_user` when the answer decides what you do"),
        ("save_agent", "propose one"),
        ("bash", "a short script of your own"),
        ("skill", "look whether a skill fits"),
    ],
)
def test_a_rule_stands_there_with_its_tool_and_goes_with_it(tool: str, rule: str) -> None:
    tools = {*TEAM, "save_agent", "bash", "ask_user", "skill"}
    assert told(*sorted(tools)).count(rule) == 1
    assert rule not in told(*sorted(tools - {tool}))


def test_who_is_alone_is_told_nothing_of_others() -> None:
    alone = told("read_file")
    assert "Who does it" not in alone
    assert "E_TASK" not in alone


def test_an_explicit_choice_of_the_user_comes_first() -> None:
    order = told(*TEAM, "bash")
    places = [order.index(rule) for rule in ("Whom the user names", "A member", "Yourself", "a short script")]
    assert places == sorted(places)
