"""Writing on after the output limit: nothing said twice, nothing lost, whatever the pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.continuation import Seam


def joined(first: str, *second: str) -> str:
    seam = Seam(first)
    return first + "".join(seam.feed(piece) for piece in second) + seam.finish()


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("The lighthouse keeper wal", "ked home.", "The lighthouse keeper walked home."),
        ("The lighthouse keeper wal", "lighthouse keeper walked home.", "The lighthouse keeper walked home."),
        ("one\ntwo three four\n", "two three four\nfive", "one\ntwo three four\nfive"),
        ("潮が満ちると港の灯りが海に", "港の灯りが海に映ります。", "潮が満ちると港の灯りが海に映ります。"),
    ],
)
def test_what_is_said_again_at_the_seam_is_shown_once(first: str, second: str, whole: str) -> None:
    assert joined(first, second) == whole
    assert joined(first, *second) == whole


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("        }\n        }\n", "        }\n}\n"),
        ("no, no, ", "no, no!"),
        ("| a | b |\n|---|---|\n", "|---|---|\n"),
        ("the word lighthouse is long", " and lighthouse is written twice"),
        ("1, 2, 3, ", "3, 4"),
        ("", "fresh beginning"),
    ],
)
def test_what_only_looks_like_a_repetition_stays(first: str, second: str) -> None:
    assert joined(first, second) == first + second
    assert joined(first, *second) == first + second


def test_a_second_part_that_only_repeats_adds_nothing() -> None:
    assert joined("and so it ended happily", "it ended happily") == "and so it ended happily"


@given(st.text("ab \n", max_size=60), st.lists(st.text("ab \n", max_size=12), max_size=8))
def test_the_pieces_do_not_matter_and_only_a_repetition_is_left_out(first: str, pieces: list[str]) -> None:
    second = "".join(pieces)
    whole = joined(first, *pieces)
    assert whole == joined(first, second)
    left_out = len(first) + len(second) - len(whole)
    assert first.endswith(second[:left_out])
    assert whole == first + second[left_out:]
