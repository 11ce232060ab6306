"""Old text for new: what is not edited stays, and every line end is that of its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.errors import Refused
from app.hands.replace import replace

LINES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "  c", "d  ", ""]), st.sampled_from(["\n", "\r\n"])), max_size=12
)


def joined(lines: list[tuple[str, str]]) -> str:
    return "".join(line + end for line, end in lines)


@given(
    before=LINES,
    after=LINES,
    new=st.lists(st.sampled_from(["x", "y", ""]), min_size=1, max_size=3).map("\n".join),
)
def test_nothing_beside_the_edit_changes(
    before: list[tuple[str, str]], after: list[tuple[str, str]], new: str
) -> None:
    head, tail = joined(before), joined(after)
    done = replace(f"{head}HERE{tail}", "HERE", f"{new}.")
    assert done.text.startswith(head)
    assert done.text.endswith(tail)
    middle = done.text[len(head) : len(done.text) - len(tail)]
    assert middle.replace("\r\n", "\n") == f"{new}."


@given(
    lines=LINES,
    old=st.sampled_from(["a\nb", "b\n  c", "a", "d  \na", "c\nd"]),
    new=st.sampled_from(["", "x", "x\ny\nz"]),
)
def test_an_edit_is_the_same_whatever_the_line_ends_are(
    lines: list[tuple[str, str]], old: str, new: str
) -> None:
    mixed = joined(lines)
    plain = mixed.replace("\r\n", "\n")

    def outcome(text: str) -> tuple[str, ...]:
        try:
            done = replace(text, old, new)
        except Refused as refused:
            return (refused.code,)
        return done.text.replace("\r\n", "\n"), done.match, str(done.count), str(done.line)

    assert outcome(mixed) == outcome(plain)


@given(lines=LINES)
def test_a_file_with_one_kind_of_line_end_keeps_to_it(lines: list[tuple[str, str]]) -> None:
    text = "MARK\r\n" + "".join(f"{line}\r\n" for line, _ in lines)
    done = replace(text, "MARK", "one\ntwo\n\nthree")
    assert not re.search(r"(?<!\r)\n", done.text)


def test_unequal_line_ends_inside_a_quoted_piece_stay_where_they_are() -> None:
    done = replace("a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nnew\nb\nc\n")
    assert done.text == "a\r\nnew\nb\nc\r\nd\n"


def test_a_piece_that_overlaps_itself_is_not_unique() -> None:
    with pytest.raises(Refused, match="E_MULTIPLE_MATCHES: old_string stands in 2 places"):
        replace("aaa", "aa", "b")


def test_blanks_at_the_end_are_forgiven_only_where_a_line_ends() -> None:
    assert replace("foo\t\nfoobar\n", "foo ", "x").text == "x\nfoobar\n"
    with pytest.raises(Refused, match="E_NO_MATCH"):
        replace("foobar\n", "foo ", "x")


def test_blanks_that_were_not_quoted_stay_at_the_end_of_the_last_line() -> None:
    assert replace("foo  \nbar  \n", "foo\nbar", "x\ny").text == "x\ny  \n"


def test_a_near_miss_is_shown_as_it_stands() -> None:
    with pytest.raises(Refused, match=r"Line 2 is like it .*:\n    Return 1\n"):
        replace("def f():\n    Return 1\n", "return 1", "x")


def test_where_it_stands_several_times_the_lines_are_named() -> None:
    with pytest.raises(Refused, match=r"in 7 places \(lines 1, 2, 3, 4, 5, …\)"):
        replace("a\n" * 7, "a", "b")
