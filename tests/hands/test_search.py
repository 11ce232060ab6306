"""search_files and grep_files: the same answers with ripgrep and without, and never from a closed place."""

from __future__ import annotations

import os
import re
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.grep import Hit, Mode, Search, grep
from app.hands.limits import RESULT_BYTES
from app.hands.patterns import Query, matcher_for
from app.hands.permissions.paths import PathGate
from app.hands.regex_tree import wider_for_ripgrep
from app.hands.ripgrep import find_ripgrep, name_candidates
from app.hands.search import searching_tools
from tests.case_tables import load_tsv
from tests.hands.places import SECRET, Hands, Machine, write

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


NASTY = [
    *(
        "import os",
        "  def name_of(self):",
        "x = [1, 2]",
        "",
        "İstanbul ıspanak",
        "ſtrange \u212aelvin",
        "straße STRASSE ẞ",
    ),
    *(
        "café cafe\u0301",
        "木工房 一二",
        "a\tb",
        "tail  ",
        "C:\\temp\\new",
        "a.b*c",
        "²³ Ⅻ",
        "ﬅ ﬆ ΐ \u1fd3",
        "-- --x",
        "aXb aYb",
    ),
    *(
        "\u2028sep",
        "zero\u200bwidth",
        "foo",
        "foobar foo",
        "123-45",
        "end$",
        "(paren)",
        "_under_score",
        "\x85next\x0bvt",
    ),
]
PATTERNS = [
    *(
        r"\bfoo\b",
        r"^import",
        r"\w+\(",
        r"[^\W\d]+",
        r"(a)(.)\1?b",
        r"a(?=X)",
        r"(?<!o)foo",
        r"\s$",
        r"^\s",
        r"\d{3}-\d\d",
    ),
    *(
        r"(?i)STRASSE",
        r"(?-i:İ)",
        r"i",
        r"ſ",
        r"[k-m]",
        r"[^a]",
        r"k",
        r"\Aend\$\Z",
        r"x?",
        r"(?:foo){1,2}",
        r"a.b",
        r"\.",
    ),
    *(
        r"[\u4e00-\u9fff]{2}",
        r"\S+\s+\S+",
        r"(?P<n>a)\tb",
        r"foo|木",
        r"\\",
        r"[\]\[]",
        r"(?>foo)bar",
        r"o++b",
        r"\B_",
        r"é",
        r"\w{5,}",
    ),
    *(
        r"ﬆ",
        "ΐ",
        r"\x85",
        r"caf.$",
        r"[\w.-]+$",
        r".{3}$",
        r"(?a:\w)+é",
        r"^.?$",
        r"()",
        r"(x)?(?(1)y|foo)",
        r"\D\W\S",
    ),
]


def fill(folder: Path, lines: list[str]) -> None:
    """The same lines in every encoding and with every line end there is, and where a search must not look."""
    text = "\n".join(lines)
    write(folder / "lf.txt", text + "\n")
    write(folder / "crlf.txt", text.replace("\n", "\r\n"))
    write(folder / "crlf_and_more.txt", text.replace("\n", "\r\n") + "\r")
    write(folder / "bom.py", "\ufeff" + text)
    write(folder / "utf16/le.txt", ("\ufeff" + text).encode("utf-16-le"))
    write(folder / "utf16/be.txt", ("\ufeff" + text + "\n").encode("utf-16-be"))
    write(folder / "latin.txt", text.encode("latin-1", "replace"))
    write(folder / "broken.md", text.encode() + b"\xff\xfe tail \xf0\x9f\n" + text.encode()[1:])
    write(folder / "zero.bin", text.encode() + b"\n\0")
    write(folder / "late_zero.bin", text.encode() + b"\n" + b"x" * 200_000 + b"\n\0")
    write(folder / "-rf", text)
    write(folder / "a b/c;d/$(x).txt", text)
    for number, line in enumerate(lines):
        write(folder / f"one/{number:02}.txt", line)
    for closed in (".git/x", "node_modules/x.js", "deep/.venv/x.py", ".env", "id_rsa", "deep/__pycache__/x"):
        write(folder / closed, text)
    write(folder / ".gitignore", "*.txt\n")


async def found_both_ways(gate: PathGate, search: Search) -> list[Hit]:
    """What a search finds, the same whether ripgrep (where there is one) names the files or all are looked at."""
    ripgrep = find_ripgrep(gate.workspace)
    matcher = matcher_for(search.query)
    candidates = await name_candidates(ripgrep, gate.workspace, search) if ripgrep else None
    hits = list(grep(gate, search, matcher))
    assert hits == list(grep(gate, search, matcher, candidates))
    return hits


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> PathGate:
    machine = Machine.made_in(tmp_path_factory.mktemp("nasty"))
    fill(machine.workspace, NASTY)
    return machine.gate()


@pytest.mark.parametrize("case_sensitive", [True, False], ids=["case", "any case"])
@pytest.mark.parametrize("pattern", [pytest.param(pattern, id=f"{n}") for n, pattern in enumerate(PATTERNS)])
async def test_an_expression_finds_the_same_with_ripgrep_and_without(
    pattern: str, case_sensitive: bool, nasty: PathGate
) -> None:
    assert wider_for_ripgrep(pattern, case_sensitive=case_sensitive), "ripgrep can help"
    search = Search(Query(pattern, True, case_sensitive), most=10_000)
    hits = await found_both_ways(nasty, search)
    flags = 0 if case_sensitive else re.IGNORECASE
    matching = [line for line in NASTY if re.search(pattern, line, flags)]
    by_path = {hit.path: hit.found for hit in hits}
    lines = by_path["lf.txt"].lines if "lf.txt" in by_path else ()
    assert [line.text for line in lines] == matching
    left_out = (".git/", "node_modules", "deep", ".env", "id_rsa", "zero", "late")
    assert not any(path.startswith(left_out) for path in by_path)


@given(
    lines=st.lists(st.text(st.sampled_from("aAbiİıkKsSſ éÉ木.\t"), max_size=6), min_size=1, max_size=8),
    pattern=st.text(st.sampled_from("aAbiİıkKsſéÉ木."), min_size=1, max_size=3),
    case_sensitive=st.booleans(),
    mode=st.sampled_from(["content", "files", "count"]),
    context=st.integers(0, 2),
)
def test_a_text_finds_the_same_with_ripgrep_and_without(
    lines: list[str],
    pattern: str,
    case_sensitive: bool,
    mode: Mode,
    context: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    machine = Machine.made_in(tmp_path_factory.mktemp("machine"))
    fill(machine.workspace, lines)
    search = Search(Query(pattern, False, case_sensitive), mode=mode, context=context)
    hits = anyio.run(found_both_ways, machine.gate(), search)
    found = [
        line for line in lines if (pattern in line if case_sensitive else pattern.lower() in line.lower())
    ]
    assert not found or "lf.txt" in [hit.path for hit in hits]


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
    before = children()
    with anyio.move_on_after(0.3) as limit:
        await hands.call("grep_files", pattern="^(a+)+$", regex=True)
    assert limit.cancelled_caught
    assert children() == before


def children() -> set[str]:
    """Processes that this one has started and not yet ended."""
    tasks = Path("/proc/self/task")
    return (
        {pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()}
        if tasks.is_dir()
        else set()
    )


async def test_a_long_line_is_shown_around_its_match(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "long.txt", "é" * 50_000 + "NEEDLE" + "木" * 50_000)
    output = await hands.call("grep_files", pattern="needle")
    line = output.text.split("\n")[2]
    assert line.startswith("1: …é")
    assert "NEEDLE木" in line
    assert line.endswith("木…")
    assert len(line) < 500
    assert "\ufffd" not in line


async def test_a_file_of_many_blocks_has_the_right_line_numbers(machine: Machine) -> None:
    write(
        machine.workspace / "big.txt",
        "".join(f"{number:>99}\n" for number in range(1, 150_001)) + "NEEDLE\nafter",
    )
    for ripgrep in (True, False):
        hands = Hands.on(machine.gate(), ripgrep=ripgrep)
        output = await hands.call("grep_files", pattern="needle", context_lines=1)
        assert output.text.split("\n")[2:] == [f"150000- {150_000:>99}", "150001: NEEDLE", "150002- after"]


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


async def test_a_ripgrep_that_is_none_changes_nothing(machine: Machine, tmp_path: Path) -> None:
    write(machine.workspace / "a b.txt", "needle")
    for script in ("exit 2", "kill -9 $$", "echo no path"):
        fake = write(tmp_path / "rg", f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        tools = {tool.name: tool for tool in searching_tools(machine.gate(), fake)}
        output = await Hands(tools).call("grep_files", pattern="needle")
        assert output.text == "[1 matching line in 1 file]\na b.txt\n1: needle" or script == "echo no path"


def test_a_ripgrep_in_the_workspace_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bin/rg", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_ripgrep(tmp_path) is None
    assert find_ripgrep(tmp_path / "other") == tmp_path / "bin/rg"


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
