"""Text at the border of the store: whatever comes in can be read again by everyone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models.fields import clean, clean_text

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("given_text", "stored"),
    [
        ("plain", "plain"),
        ("a\0b", "ab"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("😀 \u2028 \u200d ﷽", "😀 \u2028 \u200d ﷽"),
        ("line\r\nline\ttab", "line\r\nline\ttab"),
    ],
)
def test_only_what_cannot_be_stored_is_changed(given_text: str, stored: str) -> None:
    assert clean_text(given_text) == stored


@given(ANY_TEXT)
def test_cleaning_ends_in_text_that_utf8_takes_and_is_idempotent(text: str) -> None:
    once = clean_text(text)
    assert "\0" not in once.encode().decode()
    assert clean_text(once) == once


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | ANY_TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
        max_leaves=12,
    )
)
def test_a_json_value_is_clean_to_the_last_leaf(value: object) -> None:
    cleaned = clean(value)
    text = json.dumps(cleaned, ensure_ascii=False)
    assert json.loads(text.encode()) == cleaned
    assert "\\u0000" not in json.dumps(cleaned).replace("\\\\", "")
