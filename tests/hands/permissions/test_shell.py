"""The reader of shell scripts: what it makes of a text, what it refuses to understand, and bash as the judge."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from app.hands.permissions.shell_grammar import parse
from app.hands.permissions.shell_survey import moves, names_set
from app.hands.permissions.shell_tree import (
    AndOr,
    Block,
    Choice,
    Command,
    Function,
    Loop,
    Pipeline,
    Redirected,
    Statement,
    Substitution,
    Text,
    Unread,
    Variable,
)
from tests.hands.permissions.verdicts import seen


def only(text: str) -> Statement:
    (statement,) = parse(text)
    return statement


def words(text: str) -> list[str]:
    """The words of one simple command, as bash would pass them on."""
    command = only(text)
    assert isinstance(command, Command)
    assert all(isinstance(part, Text) for word in command.words for part in word.parts)
    return ["".join(part.text for part in word.parts if isinstance(part, Text)) for word in command.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", ["a", "b", "c"]),
        ("a 'b c' \"d e\"", ["a", "b c", "d e"]),
        ("r''m r\"\"m r\\m", ["rm", "rm", "rm"]),
        ("echo 'it'\"'\"'s'", ["echo", "it's"]),
        (r"echo $'\x41\t\u00e8\101'", ["echo", "A\tèA"]),
        (r'echo "a\"b\$c\n"', ["echo", 'a"b$c\\n']),
        ("echo \\\n  b", ["echo", "b"]),
        ('echo "costs $ 5 and $"', ["echo", "costs $ 5 and $"]),
        ("echo a#b", ["echo", "a#b"]),
        ("echo ''", ["echo", ""]),
    ],
)
def test_quotes_are_taken_off_as_bash_takes_them_off(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(("a | b", Pipeline), ("a |& b", Pipeline), ("a && b", AndOr), ("a || b", AndOr), ("( a )", Block)),
        *(
            ("{ a; }", Block),
            ("if a; then b; fi", Choice),
            ("case a in b) c;; esac", Choice),
            ("f() { a; }", Function),
        ),
        *(("for a in b; do c; done", Loop), ("while a; do b; done", Loop), ("until a; do b; done", Loop)),
        *(("{ a; } > b", Redirected), ("a > b", Command), ("> b", Command), ("a=b", Command)),
    ],
)
def test_each_construct_has_its_value(text: str, kind: type[Statement]) -> None:
    assert isinstance(only(text), kind)


def test_a_substitution_holds_the_commands_in_it() -> None:
    command = only('echo "$(ls; pwd)" $x')
    assert isinstance(command, Command)
    substitution = next(part for part in command.words[1].parts if isinstance(part, Substitution))
    assert len(substitution.body) == 2
    assert command.words[2].parts == (Variable("x"),)


def test_a_here_document_is_text_and_what_stands_behind_it_goes_on() -> None:
    pipeline = only("cat <<'E' | sh\n$x\nE\n")
    assert isinstance(pipeline, Pipeline)
    cat, sh = pipeline.steps
    assert isinstance(cat, Command)
    assert cat.redirections[0].target.parts == (Text("$x\n", quoted=True),)
    assert isinstance(sh, Command)


def unread(text: str) -> bool:
    waiting = list(parse(text))
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, Unread):
            return True
        if isinstance(statement, Block):
            waiting.extend(statement.body)
    return False


@pytest.mark.parametrize(
    "text",
    [
        *(
            "if a; then",
            "a (",
            'a "',
            "a 'b",
            "a $(",
            "a &&& b",
            "a <<E\nb",
            "cat <<A <<B\na\nA\nb\nB\n",
            "a; ;b",
        ),
        *(
            "a\rb",
            "a\x00b",
            "a\u202eb",
            "\u200ba",
            "a\ufeff",
            "a\u2066b",
            "true\\\ny=a zap",
            "[ a > b ]",
            "select a in b; do c; done",
        ),
        *("cat <<E; ls\na\nE\n", "a\ud800b", "a \\ #b\nc"),
    ],
)
def test_what_is_not_understood_is_said_to_be_so(text: str) -> None:
    assert unread(text)


@pytest.mark.parametrize(
    "text",
    ["ls é", "echo '👩\u200d💻'", "echo « bonjour »", "a # b; c", "ls \\\n  -l", "a &&\\\nb", "# only\n", ""],
)
def test_what_is_understood_is_not(text: str) -> None:
    assert not unread(text)


@pytest.mark.parametrize(
    ("text", "numeric"),
    [
        ("i=1; i=$((i + 1))", {"i": True}),
        ("i=1; i=a", {"i": False}),
        ("while x; do read -r a; done", {"-r": False, "a": False}),
        ("if x; then export a=1; fi", {"a": True}),
        ("for a in 1 2; do b=3; done", {"a": False, "b": True}),
        ("f() { (a=1); }", {"a": True}),
    ],
)
def test_the_variables_of_a_script_are_found_wherever_they_are_set(
    text: str, numeric: dict[str, bool]
) -> None:
    assert names_set(parse(text)) == numeric


@pytest.mark.parametrize(
    "text", ["cd x", "a && cd x", "if a; then pushd x; fi", "eval 'cd x'", "c''d x", "source x", "a ("]
)
def test_a_script_that_may_change_its_folder_is_known(text: str) -> None:
    assert moves(parse(text))


def test_one_that_stays_is_known_too() -> None:
    assert not moves(parse("echo cd; ls | cat; for a in cd; do ls; done"))


# Bash as the judge: an unknown program, or one that reaches out, is run only by commands that are not safe.

PIECES = [
    *(
        "zap",
        "zap a",
        "curl a",
        'c""url a',
        'z""ap',
        "z'a'p",
        "z\\ap",
        "echo",
        "true",
        "false",
        "echo a",
        " ",
        " ",
        " ",
        "\n",
        "\n",
        ";",
        ";",
        "&&",
    ),
    *(
        "||",
        "|",
        "&",
        "|&",
        "(",
        ")",
        "{ ",
        "}",
        "$(",
        "`",
        "`",
        ")",
        '"',
        '"',
        "'",
        "'",
        "$'",
        "\\",
        "\\\n",
        "#",
        " #",
        "$x",
    ),
    *(
        "${x}",
        '"$x"',
        "x=zap",
        "x=",
        "y=a ",
        "$((",
        "))",
        "((",
        "[[ ",
        " ]]",
        "[ ",
        " ]",
        "if ",
        "then ",
        "else ",
        "fi",
        "!",
    ),
    *(
        "for x in ",
        "do ",
        "done",
        "while ",
        "until ",
        "case ",
        " in ",
        "esac",
        ";;",
        "a)",
        "*)",
        "*",
        "?",
        "{a,b}",
        "{zap,a}",
    ),
    *(
        "<<E",
        "<<'E'",
        "<<-E",
        "\nE\n",
        "\n\tE\n",
        "E",
        "<<<",
        "<(",
        "${x:-",
        "${x#",
        "${x/",
        "}",
        "$",
        "a",
        "b",
        "-n",
        "--",
    ),
    *(
        "eval ",
        "trap ",
        "EXIT",
        "command ",
        "builtin ",
        "f()",
        "f",
        "time ",
        "coproc ",
        '$"',
        "export ",
        "local ",
        "read x",
    ),
    *(
        "set -- zap",
        "$@",
        "$1",
        '"$@"',
        "\t",
        "=",
        "+=",
        "x[0]=",
        "arr=(",
        "${arr[0]}",
        "..",
        "~",
        "-",
        '\\"',
        "\\'",
        "\\$",
        "\\`",
    ),
]


def scripts(seed: int, count: int) -> list[str]:
    """Scripts that grow from what was safe so far, so that most of them are nearly right."""
    chance = random.Random(seed)
    pool: list[list[str]] = []
    found: list[str] = []
    while len(found) < count:
        script = list(chance.choice(pool)) if pool and chance.random() < 0.6 else []
        for _ in range(chance.randint(1, 6)):
            script.insert(chance.randint(0, len(script)), chance.choice(PIECES))
        text = "".join(script)
        if len(script) < 24 and ("z" in text or "c" in text) and seen(text).is_safe:
            pool.append(script)
            found.append(text)
    return found


CONTEXTS = [
    *(
        "$(%)",
        "`%`",
        '"%"',
        '"$(%)"',
        '"`%`"',
        "'%'",
        "$'%'",
        "echo %",
        "x=%",
        'x="%" true',
        "${x:-%}",
        '"${x:-%}"',
        "${x#%}",
    ),
    *(
        "${x/%/a}",
        "${x:%}",
        "${x[%]}",
        "((%))",
        "$((%))",
        "$[%]",
        "[[ % ]]",
        "[[ a =~ % ]]",
        "[ % ]",
        "test %",
        "case % in a) ;; esac",
    ),
    *(
        "case a in %) ;; esac",
        "case a in a) % ;; esac",
        "if %; then :; fi",
        "if :; then %; fi",
        "if false; then :; elif %; then :; fi",
    ),
    *(
        "while %; do break; done",
        "for i in %; do :; done",
        "for i in a; do %; done",
        "for ((%;0;)); do :; done",
        "{ %; }",
        "( % )",
    ),
    *(
        "f() { %; }; f",
        "function f { %; }; f",
        "! %",
        "time %",
        "% & wait",
        ": && %",
        "false || %",
        ":\n%",
        "true | %",
        "eval %",
    ),
    *(
        "eval '%'",
        'trap "%" EXIT',
        "builtin eval '%'",
        "coproc %",
        "cat <<E\n%\nE\n",
        "cat <<'E'\n%\nE\n",
        "cat <<-E\n\t%\n\tE\n",
    ),
    *(
        "cat <<E; %\nE\n",
        "cat <<E && %\na\nE\n",
        "cat <<E\n`%`\nE\n",
        "cat <<E\n${x:-%}\nE\n",
        'echo <<< "%"',
        "echo <<< %",
        "echo <(%)",
    ),
    *(
        "x=(%)",
        "x[%]=1",
        "x=([%]=1)",
        "declare x=%",
        "declare x=a %",
        "export x=%",
        'read x <<< "%"',
        "{%,a}",
        "a{b,%}",
        "a#%",
    ),
    *(
        "#a\n%",
        "a #%",
        "\\\n%",
        "%\\\n",
        "a=b %",
        "2>&1 %",
        'set -- %; "$@"',
        'x="%"; $x',
        'x=(%); "${x[@]}"',
        "a%",
        '""%',
        "\\%",
    ),
    *(
        "echo $(echo '%')",
        "true;%",
        "[[ a\n]] && %",
        "((1)); %",
        "echo \\'`%`",
        'echo "\'"`%`',
        'echo "\\\\"; %',
        "echo $'\\'' ; %",
    ),
]


def nested(seed: int, count: int) -> list[str]:
    """A program that is called somewhere within constructs within constructs, where that is safe."""
    chance = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        text = chance.choice(["zap", "curl a", 'z""ap', "$(zap)", "x=zap; $x"])
        for _ in range(chance.randint(1, 4)):
            text = chance.choice(CONTEXTS).replace("%", text)
        if seen(text).is_safe:
            found.append(text)
    return found


class Jail:
    """Restricted bash with an empty folder and two programs, which note that they ran."""

    def __init__(self, folder: Path) -> None:
        self._notes = folder / "notes"
        self._programs = folder / "bin"
        self._here = folder / "here"
        self._programs.mkdir()
        self._here.mkdir()
        for name in ("zap", "curl"):
            program = self._programs / name
            program.write_text(f'#!/bin/bash\nprintf "%s\\n" "$0" >> {self._notes}\n', encoding="utf-8")
            program.chmod(0o755)

    def runs_it(self, script: str) -> bool:
        self._notes.write_bytes(b"")
        command = ["/bin/bash", "--norc", "--noprofile", "-r", "-c", f"ulimit -t 1\n{script}"]
        environment = {"PATH": os.fspath(self._programs), "HOME": os.fspath(self._here)}
        subprocess.run(
            command,
            cwd=self._here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        return bool(self._notes.read_bytes())


@pytest.fixture
def jail(tmp_path: Path) -> Jail:
    return Jail(tmp_path)


@pytest.mark.parametrize(
    "script", ["zap", "echo $(zap)", "x=zap; $x a", "true; eval 'z\"\"ap'", "{zap,a}", "cat <<E\n`zap`\nE\n"]
)
def test_the_jail_sees_a_program_that_runs(jail: Jail, script: str) -> None:
    assert jail.runs_it(script)
    assert not seen(script).is_safe


def test_bash_runs_none_of_them_for_a_script_that_is_safe(jail: Jail) -> None:
    assert [script for script in scripts(7, 300) + nested(7, 300) if jail.runs_it(script)] == []
