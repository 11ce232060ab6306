"""The wire to Anthropic: what it asks beside the history, and what it makes of the events of a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.engine.messages import Message, Text
from app.engine.provider import ReasoningChunk, Stop, StopReason, TextChunk, UsageReport
from app.providers.anthropic_compatible import root_of
from app.providers.direct import DirectWire
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, chunks, fail, pieces, say
from tests.providers.answers import NOON, ask, collect, said

pytestmark = pytest.mark.anyio

MARK = {"type": "ephemeral"}


@pytest.fixture
def wire(speak: Callable[..., DirectWire]) -> Callable[..., DirectWire]:
    return lambda **given: speak("anthropic", **given)


Wire = Callable[..., DirectWire]


@pytest.mark.parametrize(
    ("entered", "root"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
        ("https://gateway.example/anthropic", "https://gateway.example/anthropic/v1"),
        ("http://127.0.0.1:9/v1/models", "http://127.0.0.1:9/v1"),
    ],
)
async def test_an_address_gets_its_version_where_it_has_none(entered: str, root: str) -> None:
    assert root_of(entered) == root


async def test_a_request_says_what_it_must_and_marks_what_a_cache_should_keep(
    llm: FakeLLM, wire: Wire
) -> None:
    await collect(wire())
    (sent,) = llm.requests()
    assert (sent["key"], sent["headers"]["anthropic-version"]) == ("sk-test-0123456789abcdef", "2023-06-01")
    assert "authorization" not in sent["headers"]
    assert sent["body"] == {
        "model": "fake-model",
        "max_tokens": 32_000,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello", "cache_control": MARK}]}],
        "tools": [
            {
                "name": "read_file",
                "description": "Reads a file.",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
            }
        ],
    }


async def test_without_a_key_none_is_sent(llm: FakeLLM, wire: Wire) -> None:
    await collect(wire(key=None))
    assert not {"x-api-key", "authorization"} & llm.requests()[0]["headers"].keys()


async def test_a_mark_moves_on_and_leaves_the_history_as_it_was(llm: FakeLLM, wire: Wire) -> None:
    here, first = wire(), said("Hello")
    answer = Message("assistant", (Text("Hi."),), "m2", NOON)
    await collect(here, ask(first, session_id="s"))
    await collect(here, ask(first, answer, said("And?", 3), session_id="s"))
    content = [one["content"] for one in llm.bodies()[1]["messages"]]
    assert [[block.get("cache_control") for block in blocks] for blocks in content] == [
        [None],
        [None],
        [MARK],
    ]


async def test_a_server_that_knows_no_marks_gets_none_from_then_on(llm: FakeLLM, wire: Wire) -> None:
    here = wire()
    llm.script(fail(400, "messages.0.content.0.cache_control: Extra inputs are not permitted"))
    assert [(await collect(here)).end for _ in range(2)] == ["complete", "complete"]
    assert ["cache_control" in str(body) for body in llm.bodies()] == [True, False, False]


async def test_how_long_an_answer_may_be_is_learnt_from_the_refusal(llm: FakeLLM, wire: Wire) -> None:
    here = wire()
    words = "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for fake-model"
    llm.script(fail(400, words))
    for limit in (None, None, 100):
        await collect(here, ask(max_output_tokens=limit))
    assert [body["max_tokens"] for body in llm.bodies()] == [32_000, 8_192, 8_192, 100]


async def test_a_long_history_leaves_less_room_for_this_answer_only(llm: FakeLLM, wire: Wire) -> None:
    here = wire()
    words = (
        "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000, "
        "decrease input length or `max_tokens` and try again"
    )
    llm.script(fail(400, words))
    for _ in range(2):
        await collect(here)
    assert [body["max_tokens"] for body in llm.bodies()] == [32_000, 11_760, 32_000]


async def test_a_history_that_leaves_no_room_is_too_long(llm: FakeLLM, wire: Wire) -> None:
    words = "input length and `max_tokens` exceed context limit: 199900 + 32000 > 200000"
    llm.script(fail(400, words))
    found = await collect(wire())
    assert found.error is not None
    assert found.error.kind == "overflow"
    assert len(llm.requests()) == 1


async def test_a_limit_that_is_refused_again_and_again_is_not_asked_for_ever(
    llm: FakeLLM, wire: Wire
) -> None:
    llm.always(fail(400, "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens"))
    found = await collect(wire())
    assert found.error is not None
    assert len(llm.requests()) == 2


async def test_a_server_that_has_no_room_whatever_it_is_asked_for_is_not_asked_for_ever(
    llm: FakeLLM, wire: Wire
) -> None:
    llm.always(fail(400, "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"))
    found = await collect(wire())
    assert found.error is not None
    assert [body["max_tokens"] for body in llm.bodies()] == [32_000, 10_000]


async def test_thinking_is_closed_with_its_signature_and_what_is_sealed_is_kept(
    llm: FakeLLM, wire: Wire
) -> None:
    steps = [{"reasoning": "Hm, "}, {"reasoning": "yes"}, {"sealed": "Eo4C"}, {"text": "So."}]
    llm.script({"steps": [*steps, {"finish": "stop"}, {"done": True}]})
    found = await collect(wire())
    thoughts = [event for event in found.events if isinstance(event, ReasoningChunk)]
    assert [thought.text for thought in thoughts] == ["Hm, ", "yes", "", ""]
    assert thoughts[2].data is not None
    assert thoughts[2].data["signature"].startswith("fake.")
    assert thoughts[3].data == {"type": "redacted_thinking", "data": "Eo4C"}


async def test_token_counts_are_disjoint_and_complete(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("a", usage={"input": 3, "output": 5, "cached": 70, "written": 20}))
    assert (await collect(wire())).usage == UsageReport(3, 5, 70, 20)


FINISHES = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "output_limit",
    "model_context_window_exceeded": "output_limit",
    "pause_turn": "pause",
    "refusal": "refused",
    "something new": "end",
}


@pytest.mark.parametrize(("finish", "stop"), FINISHES.items())
async def test_stop_reasons(finish: str, stop: StopReason, llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("Well", finish=finish))
    assert (await collect(wire())).stop == stop


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grow(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


async def test_a_server_that_sends_blocks_whole_or_leaves_out_their_ends_is_understood(
    llm: FakeLLM, wire: Wire
) -> None:
    llm.script(
        chunks(
            start(0, type="thinking", thinking="Hm", signature="sig"),
            start(1, type="text", text="Well"),
            grow(1, type="text_delta", text="."),
            grow(1, type="citations_delta", citation={}),
            start(2, type="tool_use", id="t1", name="read_file", input={"path": "a"}),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": None},
        )
    )
    found = await collect(wire())
    assert (found.reasoning, found.text, found.stop) == ("Hm", "Well.", "tool_calls")
    assert [dict(one.arguments) for one in found.calls] == [{"path": "a"}]
    (closed,) = [event.data for event in found.events if isinstance(event, ReasoningChunk) and event.data]
    assert closed == {"type": "thinking", "signature": "sig"}


async def test_an_emoji_cut_in_two_by_the_server_is_whole(llm: FakeLLM, wire: Wire) -> None:
    raw = [
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        *(
            f'{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{piece}"}}}}'
            for piece in ("a\\ud83d", "\\ude80b", "\\ud83d")
        ),
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
    ]
    llm.script(pieces(*(f"event: x\ndata: {line}\n\n".encode() for line in raw)))
    found = await collect(wire())
    assert (found.text, found.stop) == ("a🚀b\ufffd", "end")


async def test_what_is_no_event_of_a_message_is_left_out(llm: FakeLLM, wire: Wire) -> None:
    odd = [{"type": "ping"}, {"type": "new_event", "x": 1}, {}, {"type": "content_block_start", "index": "0"}]
    llm.script(chunks(*odd, start(0, type="text", text="Hi."), {"type": "content_block_stop", "index": 7}))
    assert (await collect(wire())).events == [TextChunk("Hi.")]


FAULTS: dict[str, tuple[Answer, str]] = {
    "http_429_spend": (
        fail(429, "This workspace has reached its monthly spend limit.", type="rate_limit_error"),
        "balance",
    ),
    "sse_event_error": (
        {"steps": [{"error": {"message": "Overloaded", "type": "overloaded_error"}}]},
        "overloaded",
    ),
    "sse_missing_start": (chunks(grow(0, type="text_delta", text="Hi.")), "server"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_ends_as_it_should(fault: str, llm: FakeLLM, wire: Wire) -> None:
    answer, kind = FAULTS[fault]
    llm.script(answer)
    error = (await collect(wire())).error
    assert error is not None
    assert error.kind == kind


async def test_a_stop_is_said_once(llm: FakeLLM, wire: Wire) -> None:
    ends = [
        {"type": "message_delta", "delta": {"stop_reason": reason}} for reason in ("end_turn", "max_tokens")
    ]
    llm.script(chunks(start(0, type="text", text="Hi."), *ends, {"type": "message_stop"}))
    assert [event for event in (await collect(wire())).events if isinstance(event, Stop)] == [Stop("end")]
