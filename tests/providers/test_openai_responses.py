"""The wire to OpenAI's Responses: who is asked there, what is asked beside the history, and what its events mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.engine.messages import Message, Text
from app.engine.provider import ReasoningChunk, Stop, StopReason, UsageReport
from app.providers.dialects import Dialect, dialect_of
from app.providers.direct import DirectWire
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, chunks, fail, pieces, say
from tests.providers.answers import NOON, ask, collect, said

pytestmark = pytest.mark.anyio

Speak = Callable[..., DirectWire]
ELSEWHERE = "This model is only supported in v1/responses and not in v1/chat/completions."


def paths(llm: FakeLLM) -> list[str]:
    return [one["path"] for one in llm.requests()]


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gpt-6.1-sol", "responses"),
        ("o4-mini", "responses"),
        ("gpt-4o", "chat/completions"),
        ("openai/gpt-oss", "chat/completions"),
    ],
)
async def test_openai_is_asked_for_models_that_think_where_their_thinking_is_to_be_had(
    model: str, path: str, llm: FakeLLM, speak: Speak
) -> None:
    here = speak("openai_chat", dialect=dialect_of("https://api.openai.com/v1"))
    assert (await collect(here, ask(model=model))).end == "complete"
    assert paths(llm) == [f"/v1/{path}"]


async def test_any_other_server_is_asked_there_only_where_it_says_so_itself(
    llm: FakeLLM, speak: Speak
) -> None:
    here = speak("openai_chat")
    llm.script(fail(404, ELSEWHERE, type="invalid_request_error"))
    for model in ("gpt-6", "gpt-6", "gpt-5"):
        assert (await collect(here, ask(model=model))).end == "complete"
    chat, there = "/v1/chat/completions", "/v1/responses"
    assert paths(llm) == [chat, there, there, chat]


async def test_what_is_asked_beside_the_history(llm: FakeLLM, speak: Speak) -> None:
    here = speak("openai_responses")
    await collect(here, ask(session_id="s" * 200, reasoning="high"))
    await collect(here, ask())
    first, second = llm.bodies()
    assert (first["store"], first["stream"], first["include"]) == (
        False,
        True,
        ["reasoning.encrypted_content"],
    )
    assert first["reasoning"] == {"effort": "high", "summary": "auto"}
    assert len(first["prompt_cache_key"]) == 64
    assert second.keys() & {"reasoning", "prompt_cache_key"} == set()


@pytest.mark.parametrize(
    ("words", "gone", "stays"),
    [
        ("Your organization must be verified to generate reasoning summaries.", "summary", "effort"),
        (
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning",
            "include",
        ),
        ("Encrypted content is not supported with this model.", "include", "reasoning"),
        ("Unknown parameter: 'prompt_cache_key'.", "prompt_cache_key", "reasoning"),
    ],
)
async def test_an_option_that_is_refused_is_done_without_from_then_on(
    words: str, gone: str, stays: str, llm: FakeLLM, speak: Speak
) -> None:
    here = speak("openai_responses")
    llm.script(fail(400, words, type="invalid_request_error"))
    for _ in range(2):
        assert (await collect(here, ask(reasoning="low", session_id="s"))).end == "complete"
    names = [body.keys() | body.get("reasoning", {}).keys() for body in llm.bodies()]
    assert [gone in one for one in names] == [True, False, False]
    assert all(stays in one for one in names)


@pytest.mark.parametrize(
    "words",
    [
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "The encrypted content for item rs_1 could not be verified.",
        "Invalid 'input[3].store': unknown parameter",
    ],
)
async def test_a_refusal_of_the_history_costs_no_option(words: str, llm: FakeLLM, speak: Speak) -> None:
    here = speak("openai_responses")
    llm.script(fail(400, words, type="invalid_request_error"))
    for _ in range(2):
        await collect(here, ask(reasoning="low"))
    assert all(body.keys() >= {"reasoning", "include", "store"} for body in llm.bodies())


async def test_thinking_comes_with_its_item_and_a_call_with_what_led_to_it(
    llm: FakeLLM, speak: Speak
) -> None:
    llm.script(
        say("So.", reasoning=["Hm, ", "a file."], calls=[call("read_file", {"path": "a"}, id="call_1")])
    )
    found = await collect(speak("openai_responses"))
    closing = [e.data for e in found.events if isinstance(e, ReasoningChunk) and e.data]
    assert [one["type"] for one in closing] == ["reasoning", "message"]
    assert closing[0]["summary"] == [{"type": "summary_text", "text": "Hm, a file."}]
    assert closing[1] == {"type": "message", "id": closing[1]["id"], "phase": "final_answer"}
    assert (found.text, found.reasoning) == ("So.", "Hm, a file.")
    (made,) = found.calls
    assert (made.id, dict(made.arguments)) == ("call_1", {"path": "a"})
    assert made.data is not None
    assert made.data.keys() == {"id"}  # what was thought led to the message before it
    llm.script(say(reasoning=["Hm."], calls=[call("read_file", {}, id="call_2")]))
    (made,) = (await collect(speak("openai_responses"))).calls
    assert made.data is not None
    assert [id[:3] for id in made.data["after"]] == ["rs_"]


async def test_token_counts_are_disjoint_and_thinking_is_output(llm: FakeLLM, speak: Speak) -> None:
    llm.script(say("Hi.", usage={"input": 11, "output": 70, "cached": 3, "thought": 60}))
    assert (await collect(speak("openai_responses"))).usage == UsageReport(11, 70, 3, 0)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "end"), ("length", "output_limit"), ("content_filter", "filtered")],
)
async def test_stop_reasons(finish: str, stop: StopReason, llm: FakeLLM, speak: Speak) -> None:
    llm.script(say("Hi.", finish=finish))
    assert (await collect(speak("openai_responses"))).stop == stop


REFUSED: Answer = {"steps": [{"refusal": "I will not."}, {"finish": "stop"}, {"done": True}]}


async def test_a_refusal_is_read_as_text_and_told_from_it(llm: FakeLLM, speak: Speak) -> None:
    llm.script(REFUSED)
    found = await collect(speak("openai_responses"))
    assert (found.text, found.stop) == ("I will not.", "refused")


def completed(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    response = {"object": "response", "status": "completed", "error": None, "output": list(items)}
    return {**response, **fields}


THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "A."}, {"type": "summary_text", "text": "B."}],
    "encrypted_content": "gAAA",
}
SPOKEN = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Hi."}]}
REFUSING = {"type": "message", "id": "msg_1", "content": [{"type": "refusal", "refusal": "No."}]}
CALLED = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "read_file", "arguments": "{}"}


@pytest.mark.parametrize(
    "answer",
    [
        {"body": completed(THOUGHT, SPOKEN, CALLED)},
        chunks({"type": "response.completed", "response": completed(THOUGHT, SPOKEN, CALLED)}),
        chunks(
            *(
                {"type": f"response.output_item.{when}", "output_index": place, "item": item}
                for place, item in enumerate((THOUGHT, SPOKEN, CALLED))
                for when in ("added", "done", "done")
            ),
            {"type": "response.completed", "response": completed(THOUGHT, SPOKEN, CALLED)},
        ),
    ],
    ids=["one body", "all in the last event", "items without their pieces"],
)
async def test_what_no_event_told_of_is_read_from_the_items(
    answer: Answer, llm: FakeLLM, speak: Speak
) -> None:
    llm.script(answer)
    found = await collect(speak("openai_responses"))
    assert (found.text, found.reasoning, found.stop) == ("Hi.", "A.\n\nB.", "tool_calls")
    assert [(one.id, one.name) for one in found.calls] == [("c", "read_file")]
    assert next(e.data for e in found.events if isinstance(e, ReasoningChunk)) == THOUGHT


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ({"body": completed(REFUSING)}, "refused"),
        ({"body": completed(SPOKEN, status="in_progress")}, "interrupted"),
        ({"body": completed(SPOKEN, status="failed")}, "server"),
        ({"body": completed(SPOKEN, status="incomplete", incomplete_details=None)}, "output_limit"),
        (
            {"body": completed(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow"})},
            "rate_limit",
        ),
        (chunks({"type": "error", "code": "server_error", "message": "Sorry.", "param": None}), "server"),
        ({"body": {"hello": "world"}}, "empty"),
    ],
)
async def test_how_a_response_ends(answer: Answer, end: str, llm: FakeLLM, speak: Speak) -> None:
    llm.script(answer)
    found = await collect(speak("openai_responses"))
    assert (found.error.kind if found.error else found.end) == end


async def test_parts_of_a_summary_are_paragraphs_and_halves_of_characters_are_joined(
    llm: FakeLLM, speak: Speak
) -> None:
    summary = {"type": "response.reasoning_summary_text.delta", "output_index": 0}
    events: list[dict[str, Any]] = [
        {**summary, "delta": "A."},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
        {**summary, "delta": "B \ud83d"},
        {**summary, "delta": "\ude80"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Hi \ud83d"},
        {"type": "response.completed", "response": completed()},
    ]
    llm.script(pieces(*(f"data: {json.dumps(event)}\n\n".encode() for event in events)))
    found = await collect(speak("openai_responses"))
    assert (found.reasoning, found.text) == ("A.\n\nB 🚀", "Hi \ufffd")
    assert [e for e in found.events if isinstance(e, Stop)] == [Stop("end")]


MISSING = "The `reasoning_content` in the thinking mode must be passed back to the API."


async def test_a_chat_server_that_wants_thinking_in_each_answer_gets_a_stand_in_for_that_of_others(
    llm: FakeLLM, speak: Speak
) -> None:
    history = (said("Hello"), Message("assistant", (Text("Hi."),), "m2", NOON), said("And?", 3))
    llm.script(fail(400, MISSING, type="invalid_request_error"))
    here = speak("openai_chat")
    for _ in range(2):
        assert (await collect(here, ask(*history))).error is None
    thoughts = [body["messages"][2].get("reasoning_content") for body in llm.bodies()]
    assert thoughts == [None, " ", " "]
    known = speak("openai_chat", dialect=Dialect(owed="reasoning_content"))
    llm.script(fail(400, "Unknown field reasoning_content", type="invalid_request_error"))
    assert (await collect(known, ask(*history))).error is None
    thoughts = [body["messages"][2].get("reasoning_content") for body in llm.bodies()][3:]
    assert thoughts == [" ", None]


async def test_a_chat_server_that_knows_no_effort_is_asked_without_from_then_on(
    llm: FakeLLM, speak: Speak
) -> None:
    here = speak("openai_chat")
    llm.script(fail(400, "Unknown parameter: 'reasoning_effort'", type="invalid_request_error"))
    for _ in range(2):
        await collect(here, ask(reasoning="low"))
    await collect(here, ask())
    assert [body.get("reasoning_effort") for body in llm.bodies()] == ["low", None, None, None]
