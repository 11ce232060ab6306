"""Chunks as litellm's own classes make them, without litellm: only their shape counts."""

from __future__ import annotations

from types import SimpleNamespace as Thing
from typing import Any

import pytest

from app.engine.chat_writer import ChatWriter
from app.engine.compiler import Compiler
from app.engine.messages import Message, Origin, Reasoning, Text
from app.engine.provider import (
    CallFragment,
    ModelRequest,
    ReasoningChunk,
    Stop,
    StreamEvent,
    TextChunk,
    UsageReport,
)
from app.providers.litellm_chunks import ChunkReader

SIGNED = {"type": "thinking", "thinking": "First, then.", "signature": "c2lnbmVk"}
HIDDEN = {"type": "redacted_thinking", "data": "aGlkZGVu"}


def chunk(text: str | None = None, finish: str | None = None, usage: Any = None, **delta: Any) -> Thing:
    parts = {"content": text, "tool_calls": None, **delta}
    return Thing(choices=[Thing(delta=Thing(**parts), finish_reason=finish)], usage=usage)


def read(*chunks: Thing) -> list[StreamEvent]:
    reader = ChunkReader()
    return [event for one in chunks for event in reader.read(one)]


def test_a_signed_thought_is_closed_whole_and_a_hidden_one_follows_it() -> None:
    events = read(
        chunk(
            thinking_blocks=[{"type": "thinking", "thinking": "First, ", "signature": None}],
            reasoning_content="First, ",
        ),
        chunk(thinking_blocks=[{"type": "thinking", "thinking": "then."}], reasoning_content="then."),
        chunk(
            thinking_blocks=[{"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}],
            reasoning_content="",
        ),
        chunk(thinking_blocks=[HIDDEN]),
        chunk("So."),
    )
    assert events == [
        ReasoningChunk("First, "),
        ReasoningChunk("then."),
        ReasoningChunk(signature="c2lnbmVk", data={"thinking_blocks": [SIGNED]}),
        ReasoningChunk(data={"thinking_blocks": [SIGNED, HIDDEN]}),
        TextChunk("So."),
    ]


def test_thoughts_go_back_byte_for_byte_and_only_to_the_model_that_had_them() -> None:
    events = read(chunk(thinking_blocks=[SIGNED]), chunk(thinking_blocks=[HIDDEN]), chunk("So."))
    thoughts = [
        Reasoning(e.text, e.signature, e.data) for e in events if isinstance(e, ReasoningChunk) and e.data
    ]
    mine = Origin("anthropic", "deep-1")
    history = (
        Message("user", (Text("Why?"),), "m1", ""),
        Message("assistant", (*thoughts, Text("So.")), "m2", "", mine),
        Message("user", (Text("And?"),), "m3", ""),
    )
    request = ModelRequest("deep-1", "", history)
    own = Compiler(ChatWriter(("thinking_blocks",)), mine).compile(request)["messages"][1]
    other = Compiler(ChatWriter(("thinking_blocks",)), Origin("anthropic", "deep-2")).compile(request)[
        "messages"
    ][1]
    assert own["thinking_blocks"] == [SIGNED, HIDDEN]
    assert "thinking_blocks" not in other


def test_counts_of_tokens_are_disjoint() -> None:
    usage = Thing(
        prompt_tokens=100,
        completion_tokens=9,
        cache_read_input_tokens=60,
        cache_creation_input_tokens=30,
        prompt_tokens_details=Thing(cached_tokens=60, cache_creation_tokens=30),
    )
    assert read(Thing(choices=[], usage=usage)) == [UsageReport(10, 9, 60, 30)]


@pytest.mark.parametrize("details", [None, Thing(cached_tokens=None), Thing(cached_tokens=200)])
def test_counts_that_are_missing_or_odd_do_no_harm(details: Any) -> None:
    usage = Thing(prompt_tokens=100, completion_tokens=None, prompt_tokens_details=details)
    (report,) = read(Thing(choices=[], usage=usage))
    assert isinstance(report, UsageReport)
    assert report.input_tokens >= 0
    assert report.output_tokens == 0


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("length", "output_limit"),
        ("content_filter", "filtered"),
        ("refusal", "refused"),
        ("something_new", "end"),
    ],
)
def test_reasons_to_stop_are_told_apart(finish: str, stop: Any) -> None:
    reader = ChunkReader()
    assert list(reader.read(chunk(finish=finish))) == []
    assert list(reader.end(Thing())) == [Stop(stop)]


def test_without_a_reason_there_is_no_stop() -> None:
    reader = ChunkReader()
    assert list(reader.read(chunk("Half"))) == [TextChunk("Half")]
    assert list(reader.end(Thing())) == []


def test_a_signature_beside_a_call_is_kept_once_and_goes_back_with_it() -> None:
    function = Thing(name="f", arguments="{}")
    signed = Thing(index=0, id="c1__thought__c2ln", function=function)
    signed.provider_specific_fields = {"thought_signature": "c2ln"}
    (made,) = read(chunk(tool_calls=[signed]))
    added = {"provider_specific_fields": {"thought_signature": "c2ln"}}
    assert made == CallFragment(0, "c1", "f", "{}", added)
    (bare,) = read(chunk(tool_calls=[Thing(index=0, id="c1", function=function)]))
    assert bare == CallFragment(0, "c1", "f", "{}")
