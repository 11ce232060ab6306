"""A range of a text, bounded, with a word on what is left."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.errors import Refused
from app.hands.limits import RESULT_BYTES
from app.hands.text import Decoded
from app.hands.view import Range, cut_to_bytes, view

LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=8)


def body(text: str, wanted: Range | None) -> str:
    return view("f", len(text), "0" * 64, Decoded(text, "utf-8"), wanted).split("\n", 1)[1]


@given(lines=st.lists(LINE, min_size=1, max_size=8), start=st.integers(1, 9), length=st.integers(0, 9))
def test_lines_are_those_of_the_file(lines: list[str], start: int, length: int) -> None:
    text = "".join(f"{line}\r\n" for line in lines)
    if start > len(lines):
        with pytest.raises(Refused, match=f"has {len(lines)} lines"):
            body(text, Range("line", start, start + length))
    else:
        assert body(text, Range("line", start, start + length)) == "\n".join(
            lines[start - 1 : start + length]
        )


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
    start=st.integers(0, 39),
    length=st.integers(1, 9),
)
def test_characters_are_those_of_the_text_with_line_feeds(text: str, start: int, length: int) -> None:
    plain = text.replace("\r\n", "\n")
    if start < len(plain):
        assert body(text, Range("char", start, start + length)) == plain[start : start + length]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30), most=st.integers(0, 60))
def test_a_cut_never_splits_a_character_and_takes_all_that_fits(text: str, most: int) -> None:
    cut = cut_to_bytes(text, most)
    assert text.startswith(cut)
    assert len(cut.encode()) <= most
    assert cut == text or len(text[: len(cut) + 1].encode()) > most


@pytest.mark.parametrize("size", [1, 79, 4_000, RESULT_BYTES - 1])
def test_the_note_below_a_cut_asks_for_the_very_next_line(size: int) -> None:
    text = "".join(f"{number:05}{'.' * (size - 5)}\n" for number in range(100_000 // size + 2))
    shown, note = body(text, None).rsplit("\n", 1)
    last = int(shown.rsplit("\n", 1)[-1][:5] or 0) if size >= 5 else shown.count("\n")
    assert re.search(rf'"start": {last + 2}, "end": {100_000 // size + 2}}}\.\]$', note)


@pytest.mark.parametrize(
    ("unit", "start", "end"), [("line", 0, 4), ("line", 3, 2), ("char", -1, 2), ("char", 2, 2)]
)
def test_a_range_of_nothing_is_refused(unit: str, start: int, end: int) -> None:
    with pytest.raises(Refused, match="holds nothing"):
        Range.of({"unit": unit, "start": start, "end": end})
