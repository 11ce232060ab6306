"""search_files and grep_files: the same answers with ripgrep and without, and never from a closed place."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from app.hands.limits import RESULT_BYTES
from tests.case_tables import load_tsv
from tests.hands.places import SECRET, Hands, Machine, running, write

pytestmark = pytest.mark.anyio

ROWS = [(n, row) for n, row in enumerate(load_tsv("path_cases.tsv"), 2) if row["op"] == "grep"]
WAYS = pytest.mark.parametrize("ripgrep", [True, False], ids=["with ripgrep", "without"])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
def hands(machine: Machine) -> Hands:
    return Hands.on(machine.gate())


@WAYS
@pytest.mark.parametrize("row", [pytest.param(row, id=f"row{n}") for n, row in ROWS])
@pytest.mark.parametrize("regex", [True, False])
async def test_a_search_keeps_to_the_path_table(
    row: dict[str, str], ripgrep: bool, regex: bool, machine: Machine
) -> None:
    at_home = row["setup"] == "ROOT=@HOME@"
    if not at_home:
        machine.run(row["setup"])
    hands = Hands.on(machine.gate(machine.home if at_home else None), ripgrep=ripgrep)
    secret = await hands.call("grep_files", pattern=SECRET, root=row["path"], regex=regex)
    other = await hands.call("grep_files", pattern="n|a" if regex else "t", root=row["path"], regex=regex)
    if row["verdict"] == "deny":
        assert secret.error == other.error == "E_OUTSIDE"
    else:
        assert secret.text == "[Nothing found.]"
        assert other.error is None
        assert other.text != "[Nothing found.]"


@WAYS
async def test_a_second_name_of_a_closed_file_is_not_searched(machine: Machine, ripgrep: bool) -> None:
    os.link(machine.home / ".netrc", machine.workspace / "notes.txt")
    output = await Hands.on(machine.gate(), ripgrep=ripgrep).call("grep_files", pattern="topsecret")
    assert output.text == "[Nothing found.]"


LINES = "alpha beta\nBETA\n\n  beta two\nlast: béta\n"
ALL = "x/n.md\n1: alpha beta\n2: BETA\n4:   beta two"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({}, f"[3 matching lines in 1 file]\n{ALL}"),
        ({"case_sensitive": True}, "[2 matching lines in 1 file]\nx/n.md\n1: alpha beta\n4:   beta two"),
        ({"output_mode": "files"}, "[1 file]\nx/n.md"),
        ({"output_mode": "count"}, "[3 matching lines in 1 file]\nx/n.md: 3"),
        (
            {"case_sensitive": True, "context_lines": 1},
            "[2 matching lines in 1 file]\nx/n.md\n1: alpha beta\n2- BETA\n3- \n4:   beta two\n5- last: béta",
        ),
        (
            {"pattern": "last", "context_lines": 1},
            "[1 matching line in 1 file]\nx/n.md\n4-   beta two\n5: last: béta",
        ),
        (
            {"pattern": "^(alpha|last)", "regex": True, "context_lines": 1},
            "[2 matching lines in 1 file]\nx/n.md\n1: alpha beta\n2- BETA\n…\n4-   beta two\n5: last: béta",
        ),
        ({"root": "x/n.md", "pattern": "BÉTA"}, "[1 matching line in 1 file]\nx/n.md\n5: last: béta"),
        ({"glob": "*.txt"}, "[Nothing found.]"),
        ({"glob": "*.{md,txt}"}, f"[3 matching lines in 1 file]\n{ALL}"),
        (
            {"root": ".", "glob": "x/*.md", "pattern": "^$", "regex": True},
            "[1 matching line in 1 file]\nx/n.md\n3: ",
        ),
        ({"pattern": "a.p"}, "[Nothing found.]"),
        (
            {"root": ".", "pattern": "^b.ta$", "regex": True},
            "[2 matching lines in 2 files]\nsub/b.txt\n1: beta\nx/n.md\n2: BETA",
        ),
        (
            {"max_results": 2},
            "[2 matching lines in 1 file]\nx/n.md\n1: alpha beta\n2: BETA\n[Stopped at max_results, there may be more. "
            "Narrow it down with root, glob or a longer pattern, or raise max_results.]",
        ),
    ],
)
@WAYS
async def test_lines_are_found_and_shown(
    machine: Machine, ripgrep: bool, arguments: dict[str, object], shown: str
) -> None:
    write(machine.workspace / "x/n.md", LINES)
    asked = {"pattern": "beta", "root": "x", **arguments}
    assert (await Hands.on(machine.gate(), ripgrep=ripgrep).call("grep_files", **asked)).text == shown


@WAYS
async def test_a_pattern_without_end_is_stopped_and_the_rest_is_searched(
    machine: Machine, ripgrep: bool
) -> None:
    write(machine.workspace / "bad.txt", "a" * 60 + "!\n")
    write(machine.workspace / "good.txt", "aaa\n")
    hands = Hands.on(machine.gate(), ripgrep=ripgrep)
    output = await hands.call("grep_files", pattern="^(a+)+$", regex=True, glob="{bad,good}.txt")
    assert output.error is None
    assert "good.txt\n1: aaa" in output.text
    if not ripgrep:
        assert "The pattern takes too long in bad.txt" in output.text


async def test_a_pattern_that_is_only_slow_is_refused_with_advice(machine: Machine) -> None:
    write(machine.workspace / "bad.txt", "a" * 60 + "!\n")
    output = await Hands.on(machine.gate(), ripgrep=False).call(
        "grep_files", pattern="^(a+)+$", regex=True, glob="bad.txt"
    )
    assert output.error == "E_TIMEOUT"
    assert "without repetition inside repetition" in output.text


async def test_a_cancelled_search_leaves_no_process(machine: Machine) -> None:
    write(machine.workspace / "bad.txt", ("a" * 60 + "!\n") * 5)
    hands = Hands.on(machine.gate(), ripgrep=False)
    before = running()
    with anyio.move_on_after(0.3) as limit:
        await hands.call("grep_files", pattern="^(a+)+$", regex=True)
    assert limit.cancelled_caught
    assert running() == before


async def test_a_result_is_bounded(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "many.txt", f"needle {'x' * 300}\n" * 1000)
    output = await hands.call("grep_files", pattern="needle", max_results=1000)
    assert len(output.text.encode()) < RESULT_BYTES + 500
    assert "Cut: this is all that fits." in output.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "("}, "cannot be understood"),
        ({"pattern": "a\nb"}, "single lines"),
        ({"pattern": ""}, "empty"),
        ({"pattern": "a", "root": "nope"}, "does not exist"),
        ({"pattern": "a", "glob": "[z-a]"}, "The glob"),
    ],
)
@WAYS
async def test_what_cannot_be_searched_is_refused(
    machine: Machine, ripgrep: bool, arguments: dict[str, object], said: str
) -> None:
    output = await Hands.on(machine.gate(), ripgrep=ripgrep).call("grep_files", regex=True, **arguments)
    assert output.error in ("E_BAD_INPUT", "E_NOT_FOUND")
    assert said in output.text


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.md", ["docs/a.md", "docs/deep/b.md", "top.md"]),
        ("**/*.md", ["docs/a.md", "docs/deep/b.md", "top.md"]),
        ("docs/*.md", ["docs/a.md"]),
        ("docs/**/*.md", ["docs/a.md", "docs/deep/b.md"]),
        ("docs/**", ["docs/a.md", "docs/deep/b.md", "docs/deep/c.TXT"]),
        ("docs/", ["docs/a.md", "docs/deep/b.md", "docs/deep/c.TXT"]),
        ("./top.*", ["top.md"]),
        ("?.md", ["docs/a.md", "docs/deep/b.md"]),
        ("[ab].md", ["docs/a.md", "docs/deep/b.md"]),
        ("[!a].md", ["docs/deep/b.md"]),
        ("{a,c}.*", ["a.txt", "docs/a.md", "docs/deep/c.TXT"]),
        ("**/{deep,none}/*", ["docs/deep/b.md", "docs/deep/c.TXT"]),
        ("*.txt", ["a.txt", "sub/b.txt"]),
        ("+(x).md", []),
        ("*/../*", []),
    ],
)
async def test_files_are_found_by_name(machine: Machine, hands: Hands, glob: str, found: list[str]) -> None:
    for name in (
        "docs/a.md",
        "docs/deep/b.md",
        "docs/deep/c.TXT",
        "top.md",
        "node_modules/a.md",
        ".env",
        ".git/a.md",
    ):
        write(machine.workspace / name, "x")
    (machine.workspace / "to_out").symlink_to(machine.outside)
    output = await hands.call("search_files", glob=glob)
    assert output.text.split("\n")[1:] == found


async def test_a_search_that_starts_in_a_folder_left_out_looks_there(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "node_modules/lib/index.js", "needle")
    assert (
        "node_modules/lib/index.js"
        in (await hands.call("search_files", glob="*.js", root="node_modules")).text
    )
    assert (
        "index.js\n1: needle"
        in (await hands.call("grep_files", pattern="needle", root="node_modules/lib")).text
    )


async def test_more_files_than_asked_for_are_mentioned(machine: Machine, hands: Hands) -> None:
    output = await hands.call("search_files", glob="*.txt", max_results=1)
    assert (
        output.text
        == "[1 file for *.txt]\na.txt\n[There are more. Give a root, a narrower glob, or a larger max_results.]"
    )
