"""Finding a text whatever its case, with offsets of the text as it is, in linear time."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.hands.caseless import places
from app.hands.errors import Stopped

SIGNS = "aAbsSßẞİiıIǰŉΣσςﬁΐ \n𝒜"


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("error", "An ERROR, an error", [3, 13]),
        ("STRASSE", "Straße, Strasse", [0, 8]),
        ("x", "İİßx", [3]),
        ("i̇", "İ i̇", [0, 2]),
        ("σ", "Σσς", [0, 1, 2]),
        ("s", "ßs", [0, 1]),
        ("aa", "aAaAa", [0, 2]),
        ("b", "aaa", []),
        ("a", "", []),
    ],
)
def test_upper_and_lower_case_are_alike_and_offsets_are_those_of_the_text(
    pattern: str, text: str, found: list[int]
) -> None:
    assert list(places(pattern, text)) == found


@given(st.text(SIGNS, max_size=30), st.text(SIGNS, min_size=1, max_size=3), st.integers(1, 9))
@settings(deadline=None)
def test_where_the_text_is_divided_does_not_matter(text: str, pattern: str, piece: int) -> None:
    assert list(places(pattern, text, piece=piece)) == list(places(pattern, text))


@given(st.text(SIGNS, max_size=20), st.text(SIGNS, min_size=1, max_size=5), st.text(SIGNS, max_size=20))
@settings(deadline=None)
def test_what_stands_there_is_found_and_what_is_found_stands_there(
    before: str, pattern: str, after: str
) -> None:
    text = before + pattern.swapcase() + after
    found = list(places(pattern, text))
    assert pattern.swapcase().casefold() != pattern.casefold() or found
    assert all(pattern.casefold() in text[place:].casefold() for place in found)
    assert found == sorted(set(found))


def test_a_text_that_nearly_matches_everywhere_costs_no_more_than_another() -> None:
    near = "a" * 4_000_000
    assert list(places("a" * 999 + "b", near)) == []
    assert list(islice(places("a" * 999, near), 3)) == [0, 999, 1_998]


def test_the_search_stops_between_two_pieces() -> None:
    looks: list[int] = []

    def check_stop() -> None:
        looks.append(0)
        if len(looks) > 2:
            raise Stopped

    with pytest.raises(Stopped):
        list(places("b", "a" * 10_000_000, check_stop))
