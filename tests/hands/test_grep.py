"""One search, whoever names the files: with ripgrep and without it finds the same lines."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.grep import Hit, Mode, Search, grep
from app.hands.patterns import Query, matcher_for
from app.hands.permissions.paths import PathGate
from app.hands.regex_tree import wider_for_ripgrep
from app.hands.ripgrep import find_ripgrep, name_candidates
from tests.hands.places import Machine, write

pytestmark = pytest.mark.anyio

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
