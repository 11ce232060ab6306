"""Two changes of one text: both are in the result, or there is none."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from app.hands.undo.merge import MERGED_LINES, merge


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"1\n2\n3\n", b"1\n2\nthree\n", b"one\n2\n3\n", b"one\n2\nthree\n"),
        (b"1\n2\n3\n", b"0\n1\n2\n3\n", b"1\n2\n3\n4\n", b"0\n1\n2\n3\n4\n"),
        (b"1\n2\n3\n4\n", b"1\n3\n4\n", b"1\n2\n3\n", b"1\n3\n"),
        (b"1\r\n2\r\n3\r\n", b"1\r\n2\r\n3!\r\n", b"1!\r\n2\r\n3\r\n", b"1!\r\n2\r\n3!\r\n"),
        (b"\xe9\n2\n3", b"\xe9\n2\n3\n", b"\xe8\n2\n3", b"\xe8\n2\n3\n"),
        (b"1\n2\n", b"one\n2\n", b"one\n2\n", b"one\n2\n"),
        (b"1\n2\n3\n", b"1\n2\nx\n3\n", b"1\n2\nx\n3\n", b"1\n2\nx\n3\n"),
    ],
)
def test_changes_of_different_lines_are_made_into_one(
    base: bytes, ours: bytes, theirs: bytes, merged: bytes
) -> None:
    assert merge(base, ours, theirs) == merged
    assert merge(base, theirs, ours) == merged


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        (b"1\n2\n3\n", b"1\nzwei\n3\n", b"1\ntwo\n3\n"),
        (b"1\n2\n", b"1\nx\n2\n", b"1\ny\n2\n"),
        (b"1\n2\n3\n", b"1\n3\n", b"1\ntwo\n3\n"),
        (b"1\n", b"1\na", b"1\nb"),
        (b"a\n1\0", b"b\n1\0", b"a\n2\0"),
        (b"1\n2\n3\n", b"1\n2\n3\0\n", b"0\n2\n3\n"),
        (b"x\n" * (MERGED_LINES + 1), b"y\n" + b"x\n" * MERGED_LINES, b"x\n" * MERGED_LINES + b"y\n"),
    ],
)
def test_changes_that_meet_and_what_is_no_text_are_not(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merge(base, ours, theirs) is None
    assert merge(base, theirs, ours) is None


TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), max_size=8).map(b"".join)


@given(TEXTS, TEXTS)
def test_where_only_one_side_changed_its_change_is_the_result(base: bytes, other: bytes) -> None:
    assert merge(base, other, base) == other
    assert merge(base, base, other) == other
    assert merge(base, other, other) == other


@given(TEXTS, TEXTS, TEXTS)
def test_neither_side_comes_first(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merge(base, ours, theirs) == merge(base, theirs, ours)
