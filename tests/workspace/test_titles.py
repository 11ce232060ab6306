"""Titles: the first line, cut where a reader would cut it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.workspace.titles import LONGEST, shorten, title_of

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Plan my trip to Genova", "Plan my trip to Genova"),
        ("First line\nsecond line", "First line"),
        ("\n\n   \n  Third line is the first with words \nx", "Third line is the first with words"),
        ("tabs\tand   spaces", "tabs and spaces"),
        ("", ""),
        (" \n\t\n", ""),
        ("one\r\ntwo", "one"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("word " * 20, ("word " * 11 + "word").strip() + "…"),
        ("帮我写一封邮件" * 10, "帮我写一封邮件" * 8 + "帮我写…"),
    ],
)
def test_the_first_line_with_words_is_the_title(text: str, title: str) -> None:
    assert title_of(text) == title


@pytest.mark.parametrize(
    ("line", "longest", "kept"),
    [
        ("abc" + FAMILY + "def", 7, "abc…"),
        ("abc" + FAMILY + "def", 10, "abc…"),
        ("abc" + FAMILY + "def", 11, "abc" + FAMILY + "…"),
        ("abcde\u0301fgh", 6, "abcd…"),
        ("abcde\u0301fgh", 7, "abcde\u0301…"),
        ("abc👍🏽def", 5, "abc…"),
        ("abc❤\ufe0fdef", 5, "abc…"),
        ("abc🇮🇹🇫🇷def", 5, "abc…"),
        ("abc🇮🇹🇫🇷def", 7, "abc🇮🇹…"),
        ("abc🇮🇹🇫🇷def", 6, "abc🇮🇹…"),
        ("ab\u1112\u1161\u11ab\u1112\u1161\u11abc", 5, "ab…"),
        ("a" + "\u0301" * 50, 10, "…"),
    ],
)
def test_what_is_drawn_as_one_character_is_not_cut(line: str, longest: int, kept: str) -> None:
    assert shorten(line, longest) == kept


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_a_title_is_one_line_and_short(text: str) -> None:
    title = title_of(text)
    assert len(title) <= LONGEST
    assert len(title.splitlines()) <= 1
    assert bool(title) == bool(text.split())
