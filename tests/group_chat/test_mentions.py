"""Whom the user calls by ``@Name``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.mentions import Mentions, read_mentions
from tests.case_tables import load_tsv

ROWS = load_tsv("mention_cases.tsv")
TEAM = {
    "commander": "Commander",
    "coder": "Coder",
    "analyst": "Data Analyst",
    "data": "Data",
    "ming": "小明",
    "jimin": "지민",
    "elodie": "Élodie",
    "nid": "นิด",
    "QA": "QA",
    "qa": "qa",
}


def called(text: str) -> tuple[str, ...]:
    return read_mentions("user", text, TEAM).to


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_names_are_read_as_the_table_says(row: dict[str, str]) -> None:
    members = dict(one.split("=", 1) for one in row["members"].split("; "))
    found = read_mentions(row["author"], row["text"], members)
    assert found == Mentions(*(tuple(filter(None, row[name].split(","))) for name in ("to", "unknown")))


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("＠小明 看", ("ming",)),
        ("@지민에게 물어봐", ("jimin",)),
        ("@นิดช่วยดูหน่อย", ("nid",)),
        ("@E\u0301lodie, on y va", ("elodie",)),
        ("@DATA  \tAnalyst go", ("analyst",)),
        ("@Ｃｏｄｅｒ go", ("coder",)),
        ("ask @Coder's opinion", ("coder",)),
        ("> a quotation\n@Coder is that right?", ("coder",)),
        ("\n@Coder\n", ("coder",)),
        ("@QA and then @qa", ("QA", "qa")),
        ("see https://example.org/x, @Coder", ("coder",)),
        ("@Coder/@Data/@Commander", ("coder", "data", "commander")),
        ("\ud800 @Coder", ("coder",)),
    ],
)
def test_a_name_is_known_however_it_is_written(text: str, to: tuple[str, ...]) -> None:
    assert read_mentions("user", text, TEAM) == Mentions(to)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/?by=@Coder",
        "@coder@example.org",
        "@data/core and @painter/core",
        "a/@Coder",
        "meet @3pm or @ 4",
        "@, @. and @@",
        "1. run\n   ```\n   @Coder\n   ```",
        "x:\n\n    @Coder",
        "e\u0301@Coder",
    ],
)
def test_what_only_looks_like_a_name_calls_nobody(text: str) -> None:
    assert read_mentions("user", text, TEAM) == Mentions()


@pytest.mark.parametrize(
    ("text", "unknown"), [("@Coder-2 go", "Coder-2"), ("@Coders", "Coders"), ("@Coderé", "Coderé")]
)
def test_a_longer_word_is_another_name(text: str, unknown: str) -> None:
    assert read_mentions("user", text, TEAM) == Mentions(unknown=(unknown,))


def test_a_sign_of_a_name_may_carry_a_mark_that_nobody_sees() -> None:
    assert read_mentions("user", "@Ship ⚓\ufe0f go", {"ship": "Ship ⚓"}).to == ("ship",)


def test_a_name_that_nobody_has_is_told_once_beside_those_that_are_known() -> None:
    assert read_mentions("user", "@Painter, @Coder and @Painter", TEAM) == Mentions(("coder",), ("Painter",))


@given(
    st.lists(st.sampled_from([*TEAM.values(), "@", "＠", " ", "/", "`", "> ", "\n", "x", "。", "\\", "-"]))
)
def test_only_members_are_called_and_each_once(pieces: list[str]) -> None:
    to = called("".join(pieces))
    assert set(to) <= TEAM.keys()
    assert len(set(to)) == len(to)


@pytest.mark.parametrize("name", TEAM.values())
@given(
    before=st.sampled_from(["", "hi ", "(", "你好，", "\n", "\n "]),
    after=st.sampled_from(["", " go", ", go", "!", "\n"]),
)
def test_every_name_is_found_between_blanks_and_signs(name: str, before: str, after: str) -> None:
    assert [TEAM[member] for member in called(f"{before}@{name}{after}")] == [name]


@pytest.mark.parametrize("piece", ["@", "@D", "@Data ", "/@Coder", "`@", "@a-", "http://", "@\u0301"])
def test_a_hostile_text_is_read_all_the_same(piece: str) -> None:
    assert set(called(piece * (40_000 // len(piece)))) <= TEAM.keys()
