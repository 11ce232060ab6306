"""Payloads as events: whatever a server sends, nothing but events or a failure of the wire comes of it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.provider import CallFragment, ReasoningChunk, Stop, TextChunk
from app.providers.chat_events import ChatEvents
from app.providers.dialects import DEFAULT
from app.providers.errors import AnswerFailed, StreamUnreadable, WireError
from app.providers.payloads import decode


def read(*payloads: bytes) -> list[Any]:
    chat = ChatEvents(DEFAULT)
    return [event for payload in payloads for event in chat.read(payload)]


def delta(**fields: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}).encode()


@pytest.mark.parametrize(
    "data", [b"", b" ", b"null", b"3", b"[]", b'"ping"', b"{}", b'{"choices":null}', b'{"choices":{}}']
)
def test_what_holds_no_answer_is_passed_over(data: bytes) -> None:
    assert read(data) == []


@pytest.mark.parametrize("data", [b"{", b"not json", b"<html>", b'{"a":1}}'])
def test_what_is_no_json_ends_the_stream(data: bytes) -> None:
    with pytest.raises(StreamUnreadable):
        read(data)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"n":123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        (b'{"n":1e400}', {"n": float("inf")}),
        (b'{"t":"\xff"}', {"t": "\ufffd"}),
        (b'{"t":"\\ud83d"}', {"t": "\ud83d"}),
    ],
    ids=["a large number", "beyond a float", "broken UTF-8", "half a character"],
)
def test_json_that_strict_readers_refuse_is_still_read(data: bytes, value: Any) -> None:
    assert decode(data) == value


def test_thinking_between_two_calls_keeps_its_place() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    assert read(delta(reasoning_content="Hm"), delta(tool_calls=[call]), delta(reasoning_content="So")) == [
        ReasoningChunk("Hm"),
        ReasoningChunk(data={"field": "reasoning_content"}),
        CallFragment(0, "a", "f", "{}"),
        ReasoningChunk("So"),
    ]


def test_half_a_character_never_crosses_from_thinking_into_the_answer() -> None:
    thought, said = (
        json.loads(delta(**{name: half}))
        for name, half in (("reasoning_content", "\ud83d"), ("content", "\ude80"))
    )
    chat = ChatEvents(DEFAULT)
    assert [*chat.take(thought), *chat.take(said)] == [
        ReasoningChunk(""),
        ReasoningChunk("\ufffd", data={"field": "reasoning_content"}),
        TextChunk("\ufffd"),
    ]


@pytest.mark.parametrize("finish", ["insufficient_system_resource", "abort", "error"])
def test_a_finish_reason_can_be_a_failure(finish: str) -> None:
    with pytest.raises(AnswerFailed):
        read(json.dumps({"choices": [{"delta": {}, "finish_reason": finish}]}).encode())


def test_the_closing_mark_is_the_end_even_without_an_answer() -> None:
    chat = ChatEvents(DEFAULT)
    assert chat.read(b"[DONE]") == []
    assert chat.done
    assert read(delta(content="a"), b"[DONE]") == [TextChunk("a"), Stop("end")]


OUTER = ["choices", "delta", "message", "index", "finish_reason", "error", "usage", "prompt_tokens", "id"]
INNER = [
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "function",
    "name",
    "arguments",
    "role",
    "text",
    "type",
]
THOUGHT = ["reasoning_content", "reasoning_details", "thinking"]
names = st.sampled_from([*OUTER, *INNER, *THOUGHT])
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["", "stop", "a", "\ud83d", "{}", "text", "thinking"])
)
payloads = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=25,
)
choices = st.dictionaries(
    st.sampled_from(["delta", "finish_reason", "index", "usage", "message"]), payloads, max_size=4
)
answers = st.fixed_dictionaries(
    {"choices": st.lists(choices, max_size=2) | payloads}, optional={"usage": payloads}
)


@given(st.lists(answers | st.dictionaries(names, payloads, max_size=4), max_size=4))
def test_any_json_at_all_is_events_or_a_failure_of_the_wire(stream: list[dict[str, Any]]) -> None:
    chat = ChatEvents(DEFAULT)
    with suppress(WireError):
        for payload in stream:
            for event in chat.take(payload):
                if isinstance(event, TextChunk | ReasoningChunk):
                    event.text.encode()
        chat.read(b"[DONE]")
