"""The wire to Ollama: what it asks beside the history, and what it makes of lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.provider import ReasoningChunk, TextChunk
from app.providers.direct import DirectWire
from app.providers.errors import StreamUnreadable
from app.providers.ndjson import LineReader
from app.providers.ollama import root_of
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import chunks, fail, pieces, say
from tests.providers.answers import ask, collect

pytestmark = pytest.mark.anyio

Wire = Callable[..., DirectWire]


@pytest.fixture
def wire(speak: Callable[..., DirectWire]) -> Wire:
    return lambda **given: speak("ollama", **given)


@pytest.mark.parametrize(
    "entered",
    [
        "http://h:11434",
        "http://h:11434/",
        "http://h:11434/v1",
        "http://h:11434/api",
        "http://h:11434/api/chat",
    ],
)
async def test_an_address_may_come_with_or_without_its_paths(entered: str) -> None:
    assert root_of(entered) == "http://h:11434/api"


async def test_the_window_is_asked_for_and_nothing_is_cut_in_silence(llm: FakeLLM, wire: Wire) -> None:
    await collect(wire(context=16_384), ask(max_output_tokens=50))
    await collect(wire())
    first, second = llm.bodies()
    assert first["options"] == {"num_predict": 50, "num_ctx": 16_384}
    assert second["options"] == {}
    assert [body["truncate"] for body in (first, second)] == [False, False]


async def test_a_conversation_beyond_the_window_is_told_from_other_refusals(llm: FakeLLM, wire: Wire) -> None:
    words = "the request exceeds the available context size, try increasing it"
    llm.script(fail(400, words), fail(400, "the input length exceeds the context length"))
    for _ in range(2):
        found = await collect(wire())
        assert found.error is not None
        assert found.error.kind == "overflow"


@pytest.mark.parametrize("key", [None, "ollama-key-0123"])
async def test_a_key_is_sent_only_where_there_is_one(key: str | None, llm: FakeLLM, wire: Wire) -> None:
    await collect(wire(key=key))
    assert llm.requests()[0]["headers"].get("authorization") == (key and f"Bearer {key}")


def line(done: bool = False, reason: str | None = None, **message: Any) -> dict[str, Any]:
    end = {"done_reason": reason} if reason else {}
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done, **end}


async def test_thinking_comes_before_what_is_said_in_one_line(llm: FakeLLM, wire: Wire) -> None:
    llm.script(chunks(line(thinking="Hm", content="So"), line(True, "stop", content="."), done=False))
    found = await collect(wire())
    assert found.events[:3] == [ReasoningChunk("Hm"), TextChunk("So"), TextChunk(".")]
    assert found.stop == "end"


@pytest.mark.parametrize(
    ("arguments", "read"),
    [({"path": "à"}, {"path": "à"}), ('{"path": "x"}', {"path": "x"}), (None, {}), ({}, {})],
)
async def test_arguments_in_any_form_are_read(
    arguments: Any, read: dict[str, Any], llm: FakeLLM, wire: Wire
) -> None:
    calls = [{"id": "call_1", "function": {"name": "read_file", "arguments": arguments}}]
    llm.script(chunks(line(tool_calls=calls), line(True, "stop", content=""), done=False))
    found = await collect(wire())
    assert [(one.id, dict(one.arguments), one.problem) for one in found.calls] == [("call_1", read, None)]
    assert found.stop == "tool_calls"


async def test_calls_of_several_lines_are_told_apart(llm: FakeLLM, wire: Wire) -> None:
    each = [{"function": {"index": 0, "name": "read_file", "arguments": {"path": path}}} for path in "ab"]
    llm.script(chunks(*(line(tool_calls=[one]) for one in each), line(True, "stop"), done=False))
    found = await collect(wire())
    assert [dict(one.arguments) for one in found.calls] == [{"path": "a"}, {"path": "b"}]


async def test_lines_that_are_no_answer_are_left_out(llm: FakeLLM, wire: Wire) -> None:
    llm.script(chunks({"x": 1}, {"message": None}, line(content=None), line(content="Hi."), done=False))
    assert (await collect(wire())).events == [TextChunk("Hi.")]


async def test_what_comes_after_the_last_line_does_not_count(llm: FakeLLM, wire: Wire) -> None:
    llm.script(chunks(line(content="Hi."), line(True, "stop"), line(content="more"), done=False))
    assert (await collect(wire())).text == "Hi."


async def test_a_stream_that_is_no_json_is_the_server_s_failure(llm: FakeLLM, wire: Wire) -> None:
    llm.script(pieces(b"<html>\n"))
    found = await collect(wire())
    assert found.error is not None
    assert found.error.kind == "server"


async def test_a_last_line_without_its_end_is_read(llm: FakeLLM, wire: Wire) -> None:
    llm.script(
        pieces(json.dumps(line(content="Hi.")).encode() + b"\n", json.dumps(line(True, "stop")).encode())
    )
    assert (await collect(wire())).end == "complete"


async def test_counts_are_read_from_the_last_line(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("a", usage=None), chunks({**line(True, "stop"), "prompt_eval_count": "many"}, done=False))
    assert [(await collect(wire())).usage for _ in range(2)] == [None, None]


@given(st.lists(st.binary(max_size=9).filter(lambda one: b"\n" not in one)), st.integers(1, 7))
def test_lines_are_the_same_however_the_network_cuts_them(lines: list[bytes], size: int) -> None:
    raw = b"\n".join(lines)
    reader = LineReader()
    found = [one for start in range(0, len(raw), size) for one in reader.feed(raw[start : start + size])]
    assert [*found, *reader.finish()] == [one for one in lines if one.strip()]
    assert reader.found == any(one.strip() for one in lines)


@pytest.mark.parametrize("before", [[], [b"x" * 6], [b"a\n", b"x" * 6]])
def test_a_line_beyond_the_limit_is_refused(before: list[bytes]) -> None:
    for last in (b"x" * 11, b"x" * 11 + b"\n"):
        reader = LineReader(limit=10)
        for piece in before:
            reader.feed(piece)
        with pytest.raises(StreamUnreadable):
            reader.feed(last)


NO_EFFORT = fail(400, 'think value "low" is not supported for this model')
NO_THINKING = fail(400, '"fake-model" does not support thinking')


async def thoughts(llm: FakeLLM, wire: DirectWire, *, times: int = 2, **fields: Any) -> list[Any]:
    """How much thinking each request asked for, sent so many times."""
    for _ in range(times):
        assert (await collect(wire, ask(**fields))).end == "complete"
    return [body.get("think") for body in llm.bodies()]


@pytest.mark.parametrize(
    ("model", "effort", "asked"),
    [
        ("qwen3:8b", "off", None),
        ("qwen3:8b", "low", True),
        ("gpt-oss:20b", "low", "low"),
        ("someone/gpt-oss:120b-cloud", "high", "high"),
        ("not-gpt-ossified", "high", True),
    ],
)
async def test_a_model_is_told_how_much_to_think_where_it_takes_more_than_yes(
    model: str, effort: str, asked: Any, llm: FakeLLM, wire: Wire
) -> None:
    assert await thoughts(llm, wire(), times=1, model=model, reasoning=effort) == [asked]


async def test_a_model_that_takes_no_effort_is_only_told_to_think(llm: FakeLLM, wire: Wire) -> None:
    llm.script(NO_EFFORT)
    assert await thoughts(llm, wire(), model="gpt-oss", reasoning="low") == ["low", True, True]


async def test_a_model_that_cannot_think_is_asked_without_from_then_on(llm: FakeLLM, wire: Wire) -> None:
    llm.script(NO_THINKING)
    assert await thoughts(llm, wire(), reasoning="low") == [True, None, None]


async def test_another_refusal_is_no_refusal_of_thinking(llm: FakeLLM, wire: Wire) -> None:
    llm.script(fail(400, '"fake-model" does not support insert'))
    assert (await collect(wire(), ask(reasoning="low"))).end == "error"
    assert await thoughts(llm, wire(), times=1, reasoning="low") == [True, True]
