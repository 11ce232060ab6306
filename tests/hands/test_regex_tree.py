"""What is told about an expression holds for every line: else a search would miss lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.regex_tree import required_text, stays_in_line, wider_for_ripgrep

ATOM = st.sampled_from(
    [
        *(
            "a",
            "B",
            "é",
            "i",
            "k",
            "ſ",
            ".",
            r"\\d",
            r"\\w",
            r"\\W",
            r"\\s",
            r"\\S",
            r"\\b",
            "^",
            "$",
            "[^a]",
            "[a-f]",
            r"[^\\W_]",
        ),
        *(
            "(?:ab)?",
            "(?=a)",
            "(?!b)",
            "(?<=a)",
            "(?i:b)",
            r"[\\D]",
            "[^B-Dé]",
            r"\\.",
            " ",
            r"[\\]x-]",
            "(?>a)",
            "(?-i:K)",
        ),
    ]
).map(lambda atom: atom.replace("\\\\", "\\"))
REPEATED = st.tuples(ATOM, st.sampled_from(["", "", "", "*", "+?", "{1,2}"])).map(
    lambda pair: f"(?:{pair[0]}){pair[1]}" if pair[1] else pair[0]
)
PATTERN = st.lists(REPEATED, min_size=1, max_size=4).map("".join) | st.lists(
    REPEATED, min_size=2, max_size=3
).map("|".join)
LINE = st.text(st.sampled_from("aAbBéÉiİıIkK\u212aſsS .x1²\t_-]木\udc80\udcff"), max_size=6)


def in_python(wider: str) -> re.Pattern[str]:
    """ripgrep's way to write it, in Python's."""
    wider = wider.replace(r"(?-u:[\x80-\xFF])", "[\udc80-\udcff]")
    return re.compile(re.sub(r"\\x\{(\w+)\}", lambda hexed: rf"\U{int(hexed[1], 16):08x}", wider))


@given(pattern=PATTERN, line=LINE, case_sensitive=st.booleans())
def test_what_matches_also_matches_the_wider_one(pattern: str, line: str, case_sensitive: bool) -> None:
    if re.search(pattern, line, re.NOFLAG if case_sensitive else re.IGNORECASE):
        wider = wider_for_ripgrep(pattern, case_sensitive=case_sensitive)
        assert wider is not None
        assert in_python(wider).search(line)


@given(pattern=PATTERN, line=LINE, case_sensitive=st.booleans())
def test_what_matches_holds_the_required_text(pattern: str, line: str, case_sensitive: bool) -> None:
    required = required_text(pattern, case_sensitive=case_sensitive)
    if required and re.search(pattern, line, re.NOFLAG if case_sensitive else re.IGNORECASE):
        text, case_counts = required
        assert re.search(re.escape(text), line, re.NOFLAG if case_counts else re.IGNORECASE)


@given(pattern=PATTERN, lines=st.lists(LINE, min_size=1, max_size=4))
def test_what_matches_a_line_matches_the_text_around_it(pattern: str, lines: list[str]) -> None:
    if stays_in_line(pattern) and any(re.search(pattern, line) for line in lines):
        assert re.search(pattern, "\n".join(lines), re.MULTILINE)


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        ("def \\w+\\(x", ("def ", True)),
        ("a|b", None),
        ("(?i)foo.", ("foo", False)),
        ("é", None),
        ("[ab]c{2}x", ("x", True)),
    ],
)
def test_the_longest_text_that_must_be_there_is_required(
    pattern: str, required: tuple[str, bool] | None
) -> None:
    assert required_text(pattern, case_sensitive=True) == required


def test_words_stay_whole_for_ripgrep() -> None:
    assert wider_for_ripgrep("word", case_sensitive=False) == "(?i:word)"


@pytest.mark.parametrize("pattern", ["(", "[", "(?P<n"])
def test_nothing_is_told_of_what_is_no_expression(pattern: str) -> None:
    assert wider_for_ripgrep(pattern, case_sensitive=True) is None
    assert required_text(pattern, case_sensitive=True) is None
    assert not stays_in_line(pattern)
