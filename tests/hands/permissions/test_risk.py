"""The gate as a whole: the table, what bash makes of one command in other clothes, the facts, and the limits."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.permissions.access import AccessMode, decide
from app.hands.permissions.record import DEEPEST, MOST_COMMANDS
from app.hands.permissions.shell_text import LONGEST
from tests.case_tables import load_tsv
from tests.hands.permissions.verdicts import FACTS, OWN, WORKSPACE, category, seen, with_made

ROWS = load_tsv("bash_cases.tsv")
DANGERS = [row["command"] for row in ROWS if row["verdict"] == "danger"]
SAFE = [row["command"] for row in ROWS if row["verdict"] == "safe"]
MODES: tuple[AccessMode, ...] = ("cautious", "standard", "trusted")
SEVERITY = {"allow": 0, "ask": 1, "deny": 2}


@pytest.mark.parametrize("command", DANGERS)
def test_a_danger_of_the_table_is_never_safe(command: str) -> None:
    assert not seen(command).is_safe


@pytest.mark.parametrize("command", SAFE)
def test_an_everyday_command_of_the_table_is_safe(command: str) -> None:
    assert [finding.sentence for finding in seen(command).findings if finding.category != "changes"] == []


def test_the_table_holds_both_kinds() -> None:
    assert len(DANGERS) > 100
    assert len(SAFE) > 40


# One act in many clothes


def answers(command: str) -> list[int]:
    """How severe each mode takes it, confined or not."""
    verdict = seen(command)
    return [
        SEVERITY[decide(mode, verdict, confined=confined).kind]
        for mode in MODES
        for confined in (True, False)
    ]


def never_lower(changed: str, original: str) -> None:
    before, after = answers(original), answers(changed)
    assert all(new >= old for new, old in zip(after, before, strict=True)), (
        f"{changed!r} is milder than {original!r}"
    )


WRAPPINGS = [
    "true; {}",
    "{}\ntrue",
    "ls && {}",
    "false || {}",
    "{} | cat",
    "{} & wait",
    "( {} )",
    "{{ {}\n}}",
    "if true; then {}\nfi",
    "while true; do {}\ndone",
    "echo $( {} )",
    'echo "$( {} )"',
    "x=$( {} )",
    "cat <( {} )",
    "f() {{ {}\n}}; f",
    "case a in a) {}\n;; esac",
    "for i in 1 2; do {}\ndone",
    "cd sub && {}",
]
ONE_LINE = [
    command for command in DANGERS if "\n" not in command and "#" not in command and "\r" not in command
]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_more_around_a_danger_never_lowers_the_verdict(wrapping: str) -> None:
    for command in ONE_LINE:
        if not command.endswith("&") and not (
            wrapping.startswith("cd") and " ~" not in command and "/" in command
        ):
            never_lower(wrapping.format(command), command)


@pytest.mark.parametrize(
    "shell", ["sh -c {}", "bash -c {}", "eval {}", "trap {} EXIT", "bash <<< {}", "env bash -ec {}"]
)
def test_a_text_that_a_shell_runs_is_judged_like_the_command_itself(shell: str) -> None:
    for command in DANGERS:
        never_lower(shell.format(shlex.quote(command)), command)


@pytest.mark.parametrize(
    "wrapper", ["env {}", "nice {}", "timeout 5 {}", "command {}", "exec {}", "time {}", "xargs {}"]
)
@pytest.mark.parametrize(
    "command", ["rm -rf ~", "sudo ls", "git push", "rm -rf src", "cat ~/.ssh/id_rsa", "npm install"]
)
def test_a_wrapped_command_is_judged_like_the_command_itself(wrapper: str, command: str) -> None:
    never_lower(wrapper.format(command), command)
    never_lower(wrapper.format(wrapper.format(command)), command)


PLAIN_WORD = re.compile(r"[A-Za-z0-9_./~:@%+-]+")


def quoted(word: str, how: int) -> str:
    """The same word in other clothes."""
    return [f"'{word}'", f'"{word}"', f"{word[:1]}''{word[1:]}", f"$'{word}'", f'""{word}'][how]


@given(st.sampled_from(ONE_LINE), st.integers(0, 20), st.integers(0, 4))
def test_quoting_a_word_never_lowers_the_verdict(command: str, which: int, how: int) -> None:
    words = command.split(" ")
    plain = [at for at, word in enumerate(words) if PLAIN_WORD.fullmatch(word) and not word.startswith("~")]
    inside_quotes = "'" in command or '"' in command or "`" in command
    if plain and not inside_quotes:
        at = plain[which % len(plain)]
        changed = " ".join([*words[:at], quoted(words[at], how), *words[at + 1 :]])
        if words[at] not in KEYWORDS:
            never_lower(changed, command)


KEYWORDS = {"if", "then", "fi", "for", "in", "do", "done", "coproc", "time", "true;"}


@given(st.sampled_from(SAFE), st.sampled_from(DANGERS), st.sampled_from(["; ", "\n", " && ", " | "]))
def test_a_safe_command_before_a_danger_changes_nothing(safe: str, danger: str, joined: str) -> None:
    if "<<" not in safe and "#" not in safe and not danger.startswith("\n"):
        never_lower(f"{safe}{joined}{danger}", danger)


@given(st.sampled_from(SAFE), st.sampled_from(ONE_LINE), st.sampled_from(["; ", "\n", " && ", " | ", " & "]))
def test_a_safe_command_behind_a_danger_changes_nothing(safe: str, danger: str, joined: str) -> None:
    if not danger.endswith("&"):
        never_lower(f"{danger}{joined}{safe}", danger)


@given(st.sampled_from(ONE_LINE), st.lists(st.sampled_from(["sh -c", "bash -ec", "eval"]), max_size=3))
def test_a_shell_in_a_shell_never_lowers_the_verdict(danger: str, shells: list[str]) -> None:
    command = danger
    for shell in shells:
        command = f"{shell} {shlex.quote(command)}"
    never_lower(command, danger)


# Facts


@pytest.mark.parametrize(
    "command",
    ["rm -rf build", "rm build/a.txt", "rm -rf ./build/", "find build -delete", "cd build && rm -rf x"],
)
def test_what_this_conversation_made_goes_without_asking(command: str) -> None:
    assert category(command) == "deletes"
    assert seen(command, with_made("build")).is_safe


@pytest.mark.parametrize("command", ["rm -rf src build", "rm -rf build/../src", "rm -rf buildx", "rm -rf *"])
def test_that_covers_nothing_beside_it(command: str) -> None:
    assert category(command, with_made("build")) == "deletes"


def test_a_build_product_goes_without_asking_and_a_folder_of_that_name_does_not() -> None:
    assert seen("rm src/main.o").is_safe
    assert category("rm -rf src/main.o") == "deletes"


def test_a_granted_folder_is_as_good_as_the_workspace() -> None:
    assert category("cat /data/x.csv") == "outside"
    assert seen("cat /data/x.csv", replace(FACTS, granted=("/data",))).is_safe


def test_a_link_that_leads_out_is_seen_where_the_caller_follows_links() -> None:
    follows = replace(FACTS, real=lambda path: path.replace(f"{WORKSPACE}/docs", "/home/ada/.ssh"))
    assert seen("cat docs/key").is_safe
    assert category("cat docs/key", follows) == "sensitive"


def test_reading_a_whole_folder_asks_where_a_secret_lies_in_it() -> None:
    facts = replace(FACTS, secret_files=frozenset({f"{WORKSPACE}/sub/.env"}))
    assert category("grep -r KEY .", facts) == "dotenv"
    assert category("cat sub/.*", facts) == "dotenv"
    assert category("find . -type f -exec cat {} +", facts) == "dotenv"
    assert category("find . -type f | xargs grep x", facts) == "dotenv"
    assert seen("cat sub/* *", facts).is_safe
    assert seen("find . -name '*.py' -exec cat {} +", facts).is_safe
    assert seen("grep -r KEY src", facts).is_safe


def test_a_second_name_of_a_secret_is_as_secret() -> None:
    facts = replace(FACTS, is_second_name=lambda path: path == f"{WORKSPACE}/sub/x")
    assert category("cat sub/x", facts) == "dotenv"
    assert category("cd sub; sort < x", facts) == "dotenv"
    assert seen("cat x sub/y; ls sub/x", facts).is_safe


def test_a_command_may_start_in_a_folder_of_the_workspace() -> None:
    inside = replace(FACTS, folder=f"{WORKSPACE}/src")
    assert seen("cat ../README.md", inside).is_safe
    assert category("cat ../../x", inside) == "outside"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "rm -rf /",
            "rm -rf ~",
            "rm -rf ..",
            "rm -rf /etc",
            "mv ~ x",
            "find / -delete",
            "dd of=/dev/sda",
            "kill -9 -1",
        ),
        *(
            "sudo ls",
            "chmod u+s x",
            ":(){ :|:& };:",
            "mkfs.ext4 /dev/sdb",
            f"rm -rf {OWN}",
            f"echo x > {OWN}/settings.json",
        ),
        *(
            "echo k >> ~/.ssh/authorized_keys",
            "cp x /etc/sudoers.d/y",
            "rm -rf ~/*",
            "sh -c 'eval \"sudo ls\"'",
        ),
    ],
)
def test_some_acts_have_no_button_in_any_mode(command: str) -> None:
    assert {decide(mode, seen(command), confined=True).kind for mode in MODES} == {"deny"}


@pytest.mark.parametrize(
    "command", ["rm -rf src", "rm --help", "ls /etc", "git push", "kill %1", "chmod 755 x", "rm -rf ~/old"]
)
def test_others_do(command: str) -> None:
    assert decide("standard", seen(command), confined=True).kind != "deny"


@pytest.mark.parametrize(
    "command", ["[[ a > b ]]", "ls &> x", "((x))", "cat <(ls)", "echo {a,b}", "echo $'a\\'; ls #'"]
)
def test_without_bash_what_only_bash_reads_so_asks(command: str) -> None:
    assert not seen(command, replace(FACTS, has_bash=False)).is_safe
    assert seen("ls && echo $((1 + 2)) > x", replace(FACTS, has_bash=False)).is_safe


# Words and limits


def test_a_finding_names_the_part_and_says_what_it_does() -> None:
    verdict = seen("ls && rm -rf src | cat")
    assert verdict.findings[0].sentence == "rm -rf src deletes src, which this conversation did not make."


def test_signs_that_do_not_show_are_written_out() -> None:
    assert "\\u202e" in seen("ls \u202ex").findings[0].sentence


def test_a_log_gets_category_and_length_and_no_word_of_the_command() -> None:
    assert seen("cat .env").for_log == "dotenv, 8 characters"


@pytest.mark.parametrize(
    "command",
    [
        "true;" * (MOST_COMMANDS + 1),
        "true;" * 60 + "rm -rf /",
        "x" * (LONGEST + 1),
        "( " * 200 + "rm -rf /" + " )" * 200,
        "echo " + "$(" * 100 + "rm -rf /" + ")" * 100,
        "env " * (DEEPEST + 1) + "rm -rf /",
        "eval " * (DEEPEST + 5) + "rm -rf /",
    ],
)
def test_a_limit_raises_the_verdict(command: str) -> None:
    assert decide("trusted", seen(command), confined=True).kind == "deny"


def test_long_text_below_the_limit_is_read() -> None:
    assert seen("cat > notes.md <<'EOF'\n" + "a line of text\n" * 1_000 + "EOF\n").is_safe


@given(st.text(max_size=40))
def test_any_text_gets_a_verdict(command: str) -> None:
    seen(command)


PIECES = [
    *(
        "rm -rf ~",
        "ls",
        "echo",
        "$(",
        ")",
        "`",
        '"',
        "'",
        "\\",
        "\n",
        ";",
        "&&",
        "|",
        "<<E",
        "\nE\n",
        "{",
        "}",
        "[[",
        "]]",
    ),
    *(
        "((",
        "))",
        "if",
        "then",
        "fi",
        "for x in",
        "do",
        "done",
        "case",
        "esac",
        "$x",
        "${x",
        "$'",
        "#",
        " ",
        "\t",
        "<(",
        ">",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_pieces_of_shell_get_a_verdict(command: str) -> None:
    seen(command)
