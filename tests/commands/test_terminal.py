"""The three streams of a command."""

from __future__ import annotations

import io

import pytest

from app.commands.terminal import Terminal, shown
from tests.commands.seat import Screen


def terminal(*, screen: bool = True, typed: str = "", **environment: str) -> Terminal:
    kind = Screen if screen else io.StringIO
    return Terminal(kind(typed), kind(), kind(), environment, lambda _: "")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain, käse ☃ 🐙\n\tindented", "plain, käse ☃ 🐙\n\tindented"),
        ("\x1b[2J\x07\r\x9b", "\ufffd[2J\ufffd\ufffd\ufffd"),
        ("שלום", "שלום"),
    ],
)
def test_only_what_a_terminal_obeys_is_replaced(text: str, safe: str) -> None:
    assert shown(text) == safe


def test_a_table_is_as_wide_as_its_widest_cells() -> None:
    here = terminal()
    here.say_table(("name", "n"), [("a", "1"), ("longer", "22")])
    assert here.stdout.getvalue() == "name    n\na       1\nlonger  22\n"  # type: ignore[attr-defined]


def test_a_question_needs_somebody_to_answer() -> None:
    assert terminal(typed="yes\n").ask("Sure? ") == "yes"
    assert terminal(screen=False, typed="yes\n").ask("Sure? ") == ""
