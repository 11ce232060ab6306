"""Words, names, ids and arguments that every server takes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.messages import Marker, Reasoning, Text, ToolCall, ToolResult
from app.engine.parts import (
    SAFE_ID,
    arguments_of,
    clean,
    dump,
    is_tool_name,
    plain_text,
    result_text,
    told_call,
    told_result,
    wire_id,
    wire_name,
)


@given(st.text(st.characters(exclude_categories=())))
def test_a_clean_text_can_be_sent_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned


def test_texts_are_joined_and_a_mark_stands_apart() -> None:
    said = Text("One, "), Reasoning("hm"), Text("two"), Marker("interrupted")
    assert plain_text(said) == "One, two\n\n[This answer was cut off here.]"
    assert plain_text((Text(" "), Text("\n"))) == ""


@pytest.mark.parametrize(
    ("name", "sent"),
    [("read_file", "read_file"), ("two words", "two_words"), ("", "unnamed"), ("à" * 90, "_" * 64)],
)
def test_a_name_is_sent_as_nearly_as_possible(name: str, sent: str) -> None:
    assert wire_name(name) == sent
    assert is_tool_name(sent)


@given(st.text(max_size=80), st.sets(st.text(max_size=3), max_size=4))
def test_an_id_is_plain_short_new_and_the_same_each_time(id: str, taken: set[str]) -> None:
    found = wire_id(ToolCall(id, "x"), "m1", taken, SAFE_ID)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", found)
    assert found not in taken
    assert wire_id(ToolCall(id, "x"), "m1", taken, SAFE_ID) == found


def test_an_id_that_the_server_made_itself_is_kept_unless_it_was_used() -> None:
    own = re.compile(r"[!-~]{1,256}")
    assert wire_id(ToolCall("f:0", "x"), "m1", (), own) == "f:0"
    assert wire_id(ToolCall("f:0", "x"), "m1", ("f:0",), own) != "f:0"


@pytest.mark.parametrize(
    "arguments", [{"x": float("inf")}, {"x": {1}}, {"x": b""}, {"x": 10**5000}, {"x": [[[[]]] * 2]}]
)
def test_arguments_are_sent_as_they_are_or_not_at_all(arguments: dict[str, Any]) -> None:
    sent = arguments_of(ToolCall("a", "x", arguments))
    assert sent in ({}, arguments)
    assert (sent == {}) == (arguments != {"x": [[[[]]] * 2]})


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=3)


@given(st.dictionaries(ANY_TEXT, st.one_of(ANY_TEXT, st.none(), st.lists(ANY_TEXT, max_size=2)), max_size=3))
def test_arguments_of_any_text_are_sent_clean(arguments: dict[str, Any]) -> None:
    written = dump(arguments_of(ToolCall("a", "x", arguments)))
    written.encode()
    assert "\\u0000" not in written.replace("\\\\", "")


def test_what_is_told_in_words_names_the_tool() -> None:
    assert told_call(ToolCall("a", "two words", {"x": "à"})) == '[Called two_words with {"x":"à"}]'
    assert told_result("read_file", ToolResult("a", "A")) == "[Result of read_file]\nA"
    assert result_text(ToolResult("a", " ")) == "(no output)"
