"""What a word may be when the command runs."""

from __future__ import annotations

import random
import subprocess

import pytest

from app.hands.permissions.shell_grammar import parse
from app.hands.permissions.shell_tree import Command
from app.hands.permissions.shell_values import Arg, State, expand


def state(**variables: str) -> State:
    known = State("/home/ada", frozenset({"/w"}), "/tmp/own")
    for name, value in variables.items():
        known.assign(name, frozenset(map(Arg, value.split("|"))))
    return known


def rows(text: str, at: State | None = None) -> list[list[str]]:
    (command,) = parse(f"echo {text}")
    assert isinstance(command, Command)
    return [[arg.text for arg in row[1:]] for row in expand(command.words, at or state())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("$HOME/x", ["/home/ada/x"]),
            ('"$PWD"', ["/w"]),
            ("$(pwd)/x", ["/w/x"]),
            ("$TMPDIR", ["/tmp/own"]),
        ),
        *(
            ("{a,b}c", ["ac", "bc"]),
            ("x{1..3}", ["x1", "x2", "x3"]),
            ("{c..a}", ["c", "b", "a"]),
            ("'{a,b}'", ["{a,b}"]),
        ),
        *(("{a}", ["{a}"]), ("$((1 + 2))", ["*"]), ("$?", ["*"]), ("<(ls)", ["/dev/fd/63"])),
        *(("$unknown", ["\0"]), ('"a$unknown"', ["a\0"]), ("$(ls)", ["\0"]), ("${x:-y}", ["\0"])),
        *(("~/x", ["~/x"]), ("*.py", ["*.py"])),
    ],
)
def test_a_word_becomes_what_is_known_of_it(text: str, expected: list[str]) -> None:
    assert rows(text) == [expected]


def test_a_variable_with_several_values_gives_a_row_for_each() -> None:
    assert rows('"$d"/x', state(d="/|/tmp")) == [["//x"], ["/tmp/x"]]


def test_a_value_with_blanks_is_known_in_quotes_only() -> None:
    assert rows('"$x"', state(x="a b")) == [["a b"]]
    assert rows("$x", state(x="a b")) == [["\0"]]


def test_too_many_values_are_none() -> None:
    many = state(a="1|2|3|4|5|6", b="1|2|3|4|5|6")
    assert rows("$a $b", many) == [["\0", "\0"]]


def test_two_ways_meet_in_all_that_either_may_have_done() -> None:
    one, other = state(x="a", only="1"), state(x="b")
    other.folders = frozenset({"/v"})
    one.join(other)
    assert one.find("x") == {Arg("a"), Arg("b")}
    assert one.find("only") is None
    assert one.folders == {"/w", "/v"}


def test_a_variable_that_a_function_sets_is_never_known() -> None:
    at = state(x="a")
    at.volatile.add("x")
    assert at.find("x") is None
    assert at.may_hold_text("x")
    assert not at.may_hold_text("never_set")


PIECES = [
    *(
        "a",
        "b",
        "x y",
        "'",
        "'",
        '"',
        '"',
        "\\",
        "$",
        "$'",
        "\\n",
        "\\x41",
        "\\'",
        '\\"',
        "\\\\",
        " ",
        "\t",
        "{a,b}",
        "{1..3}",
        "{",
        "}",
    ),
    *(
        ",",
        "..",
        "#",
        " #",
        "=",
        "-",
        "$x",
        "${x}",
        "$y",
        "*",
        "?",
        "\\\n",
        "é",
        "$HOME",
        "%",
        "!",
        "^",
        "[",
        "]",
        ":",
        "@",
        "+",
    ),
    *("`", "/", '$"', "\\$", "\\`", "{a,{b,c}}", "{c..a}", "{01..3}", "''", '""', "$x{1..2}"),
]


def passed_on(text: str) -> list[str]:
    """The words that bash passes on; restricted, without any program and with an empty folder for its names."""
    done = subprocess.run(
        ["/bin/bash", "--norc", "-r", "-c", f"set -f; x=xx; y='y z'; printf '%s\\0' begin {text}"],
        env={"HOME": "/w", "PATH": "", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=20,
        check=False,
    )
    return done.stdout.decode().split("\0")[1:-1]


def test_bash_passes_on_the_words_that_are_known() -> None:
    chance, compared = random.Random(11), 0
    known = state(x="xx", y="y z")
    known.home = "/w"
    while compared < 250:
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 8)))
        body = parse(f"echo {text}")
        if len(body) != 1 or not isinstance(body[0], Command) or body[0].redirections:
            continue
        (args, *others) = expand(body[0].words, known)
        if not others and args[0] == Arg("echo") and all(arg.is_known and not arg.several for arg in args):
            compared += 1
            assert [arg.text for arg in args[1:]] == passed_on(text), text
