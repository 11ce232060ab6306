"""How the words of a call are told apart: options, their values, operands."""

from __future__ import annotations

import pytest

from app.hands.permissions.programs.call import Program, each, is_question, listed, read_options
from app.hands.permissions.shell_values import Arg
from tests.hands.permissions.verdicts import category, seen

PROGRAM = Program(values=each("text", "-n --number -o"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a b", [(None, "a"), (None, "b")]),
        ("-ab x", [("-a", None), ("-b", None), (None, "x")]),
        ("-n 5 x", [("-n", "5"), (None, "x")]),
        ("-an5 x", [("-a", None), ("-n", "5"), (None, "x")]),
        ("--number=5", [("--number", "5")]),
        ("--number 5", [("--number", "5")]),
        ("--other 5", [("--other", None), (None, "5")]),
        ("--other=5", [("--other", "5")]),
        ("-- -n", [(None, "-n")]),
        ("- x", [(None, "-"), (None, "x")]),
        ("-f/etc/x", [*((f"-{letter}", None) for letter in "f/etc/x"), ("-f/etc/x", "/etc/x")]),
        ("-n", [("-n", None)]),
    ],
)
def test_words_are_told_apart(line: str, expected: list[tuple[str | None, str | None]]) -> None:
    read = [(option, value and value.text) for option, value in read_options(map(Arg, line.split()), PROGRAM)]
    assert read == expected


def test_a_question_is_help_or_version_alone() -> None:
    assert is_question((Arg("--help"),))
    assert not is_question((Arg("--help"), Arg("x")))
    assert not is_question((Arg("help"),))


def test_names_are_written_with_blanks_between() -> None:
    assert listed("a b") == {"a", "b"}
    assert each("read", "-a -b") == {"-a": "read", "-b": "read"}


@pytest.mark.parametrize(
    "command", ["head -n5 a", "wc --files0-from=a", "cat -- -n", "grep -e x -f patterns a"]
)
def test_a_value_inside_the_workspace_is_no_matter(command: str) -> None:
    assert seen(command).is_safe


@pytest.mark.parametrize(
    "command",
    ["wc --files0-from=/etc/hosts", "grep -f/etc/hosts x a", "du --exclude-from=../x", "cat -- ../x"],
)
def test_a_path_in_an_option_is_looked_at(command: str) -> None:
    assert category(command) == "outside"


def test_code_that_the_same_command_wrote_is_opaque_and_a_built_one_is_not() -> None:
    assert category("cp a b.sh && bash b.sh") == "opaque"
    assert seen("gcc -o b a.c && ./b").is_safe
