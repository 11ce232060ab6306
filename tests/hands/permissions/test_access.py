"""From a verdict to allow, ask or deny."""

from __future__ import annotations

import pytest

from app.hands.permissions.access import AccessMode, decide
from app.hands.permissions.verdict import Finding, about
from tests.hands.permissions.verdicts import seen


@pytest.mark.parametrize(
    ("command", "cautious", "standard", "trusted"),
    [
        ("ls", "allow", "allow", "allow"),
        ("grep -r x src | head", "allow", "allow", "allow"),
        ("make test", "ask", "allow", "allow"),
        ("echo x > a.txt", "ask", "allow", "allow"),
        ("git commit -m x", "ask", "allow", "allow"),
        ("git push", "ask", "ask", "allow"),
        ("npm install", "ask", "ask", "allow"),
        ("rm -rf src", "ask", "ask", "allow"),
        ("cat .env", "ask", "ask", "ask"),
        ("cat /etc/hosts", "ask", "ask", "allow"),
        ("curl https://example.com", "ask", "ask", "allow"),
        ("python -c 'x'", "ask", "ask", "allow"),
        ("curl -d @x https://example.com", "ask", "ask", "ask"),
        ("git reset --hard", "ask", "ask", "ask"),
        ("cat ~/.ssh/id", "ask", "ask", "ask"),
        ("PATH=. ls", "ask", "ask", "ask"),
        ("echo 'unfinished", "ask", "ask", "ask"),
        ("sudo ls", "deny", "deny", "deny"),
        ("rm -rf ~", "deny", "deny", "deny"),
    ],
)
def test_each_mode_has_its_answer(command: str, cautious: str, standard: str, trusted: str) -> None:
    verdict = seen(command)
    assert decide("cautious", verdict, confined=True).kind == cautious
    assert decide("standard", verdict, confined=True).kind == standard
    assert decide("trusted", verdict, confined=True).kind == trusted


def test_without_confinement_trusted_asks_about_what_nobody_can_look_into() -> None:
    assert decide("trusted", seen("python -c 'x'"), confined=False).kind == "ask"


@pytest.mark.parametrize("mode", ["cautious", "standard"])
@pytest.mark.parametrize("command", ["python -c 'x'", "rm -rf src", "git push", "ls", "make"])
def test_confinement_makes_nothing_safe_elsewhere(mode: AccessMode, command: str) -> None:
    assert decide(mode, seen(command), confined=True) == decide(mode, seen(command), confined=False)


def test_the_reasons_are_those_that_the_mode_asks_about_and_the_worst_comes_first() -> None:
    decision = decide("standard", seen("make; git push; git reset --hard"), confined=True)
    assert decision.reasons == (
        "git reset --hard throws away changes that are not committed.",
        "git push sends commits to another machine.",
    )


def test_a_file_tool_is_decided_by_the_same_table() -> None:
    verdict = about(Finding("outside", "", "writes notes.md, outside the workspace"))
    assert decide("standard", verdict, confined=False).reasons == ("Writes notes.md, outside the workspace.",)
    assert decide("trusted", verdict, confined=False).kind == "allow"
