"""Line patterns: the lines that match are the same by every short cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.errors import Refused
from app.hands.patterns import Query, matcher_for

LINE = st.text(st.sampled_from("abAKkſsiİı é\u212a.\t\r\x0b\u2028"), max_size=6)


@given(
    lines=st.lists(LINE, max_size=6),
    query=st.builds(
        Query,
        st.text(st.sampled_from("abksiİſ é."), min_size=1, max_size=3)
        | st.sampled_from(
            ["^a", "b$", r"\\s", "[^a]b", r"\\bk", "a|s", "(?!a).", r"\\Aa", "i+", r"k\\Z", "(?>a)b", ".$"]
        ),
        st.booleans(),
        st.booleans(),
    ),
)
def test_the_lines_of_a_block_are_those_that_match_alone(lines: list[str], query: Query) -> None:
    pattern = query.pattern if query.regex else re.escape(query.pattern)
    line_pattern = re.compile(pattern, re.NOFLAG if query.case_sensitive else re.IGNORECASE)
    for last in ("", "\n"):
        block = "\n".join(lines) + last
        alone = [line.removesuffix("\r") for line in block.removesuffix("\n").split("\n")] if block else []
        expected = [number for number, line in enumerate(alone) if line_pattern.search(line)]
        spans = list(matcher_for(query).spans(block.encode())) if block else []
        assert [block.encode()[:start].count(b"\n") for start, _, _ in spans] == expected
        assert all(start <= at <= end for start, end, at in spans)


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\rb", "a\0b", "a\ud800"])
@pytest.mark.parametrize("regex", [True, False])
def test_what_can_never_be_in_a_line_is_refused(pattern: str, regex: bool) -> None:
    with pytest.raises(Refused, match="E_BAD_INPUT"):
        matcher_for(Query(pattern, regex))


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{2,1}", "(?P<x", "\\", "(?<=a+)b", "x{99999999999}"])
def test_an_expression_that_is_none_is_refused_in_words(pattern: str) -> None:
    with pytest.raises(Refused, match="cannot be understood"):
        matcher_for(Query(pattern, True))


def test_a_set_that_may_mean_more_one_day_is_no_error() -> None:
    assert list(matcher_for(Query("[a&&b]", True)).spans(b"b\n"))
