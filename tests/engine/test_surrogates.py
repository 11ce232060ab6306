"""Halves of characters never leave: whole ones stay, lone ones become U+FFFD, wherever the pieces were cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.surrogates import HalfJoiner, clean, each_text, has_half, scrub, scrub_value

ANY_TEXT = st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF))


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("plain", "plain"),
        ("città 👍", "città 👍"),
        ("\ud83d\udc4d", "👍"),
        ("a\ud83db", "a\ufffdb"),
        ("\udc4d\ud83d", "\ufffd\ufffd"),
    ],
)
def test_two_matching_halves_are_one_character_and_a_lone_one_is_replaced(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@given(ANY_TEXT)
def test_what_was_scrubbed_can_be_sent_and_stays_as_it_is(text: str) -> None:
    scrubbed = scrub(text)
    assert not has_half(scrubbed)
    assert scrub(scrubbed) == scrubbed
    assert scrubbed == text or has_half(text)


def test_a_clean_text_has_no_nul_either() -> None:
    assert clean("a\0b\ud83d") == "a\ufffdb\ufffd"
    assert clean("as it is\n") == "as it is\n"


def test_every_string_of_a_value_is_changed_keys_included_and_nothing_else() -> None:
    assert scrub_value({"a\ud83d": ["\udc4d", 1, None, True, {"k": 1.5}]}) == {
        "a\ufffd": ["\ufffd", 1, None, True, {"k": 1.5}]
    }
    assert each_text(["a", {"b": "c"}], str.upper) == ["A", {"B": "C"}]


@given(st.lists(ANY_TEXT))
def test_a_text_in_pieces_is_the_text_as_a_whole(pieces: list[str]) -> None:
    joiner = HalfJoiner()
    assert "".join(map(joiner.feed, pieces)) + joiner.finish() == scrub("".join(pieces))
