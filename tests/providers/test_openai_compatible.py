"""The wire to OpenAI-compatible servers: what it asks, what it makes of answers, how long it waits."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import anyio
import httpx
import pytest

from app.engine.errors import ProviderError
from app.engine.messages import Image, Message, Origin, Reasoning, Text, ToolCall, ToolResult
from app.engine.provider import LeftOut, ReasoningChunk, Stop, StopReason, TextChunk, UsageReport
from app.providers.dialects import Dialect, dialect_of, root_of
from app.providers.openai_compatible import OpenAICompatible
from app.providers.stream_limits import StreamLimits
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, chunks, fail, hold, insert, pieces, say
from tests.fakes.pictures import PIXEL, png
from tests.providers.answers import NOON, ask, collect, said

pytestmark = pytest.mark.anyio

Wire = Callable[..., OpenAICompatible]


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def sse(*payloads: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)


async def test_an_answer_streams_from_the_server_to_the_consumer(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("Hel", "lo", usage=(11, 2)))
    found = await collect(wire())
    assert found.events == [TextChunk("Hel"), TextChunk("lo"), Stop("end"), UsageReport(11, 2)]


async def test_the_collected_call_is_the_same_stream(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("Hel", "lo", usage=None))
    assert await wire().complete(ask()) == (TextChunk("Hel"), TextChunk("lo"), Stop("end"))


async def test_a_request_says_what_it_must_and_nothing_more(llm: FakeLLM, wire: Wire) -> None:
    await collect(wire())
    (sent,) = llm.requests()
    assert sent["key"] == "sk-test-0123456789abcdef"
    assert sent["headers"]["content-type"] == "application/json"
    assert sent["body"].keys() == {"model", "messages", "tools", "stream", "stream_options"}


async def test_without_a_key_none_is_sent(llm: FakeLLM, wire: Wire) -> None:
    await collect(wire(key=None))
    assert "authorization" not in llm.requests()[0]["headers"]


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/models"])
async def test_an_address_may_come_with_or_without_its_paths(end: str, llm: FakeLLM, wire: Wire) -> None:
    assert (await collect(wire(llm.url + end))).end == "complete"


@pytest.mark.parametrize(
    ("entered", "root"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://open.example/api/paas/v4", "https://open.example/api/paas/v4"),
        ("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("https://api.perplexity.ai", "https://api.perplexity.ai"),
    ],
)
async def test_an_address_gets_a_version_only_where_it_has_none(entered: str, root: str) -> None:
    assert root_of(entered, dialect_of(entered)) == root


async def test_one_read_of_the_network_is_one_batch(llm: FakeLLM, wire: Wire) -> None:
    llm.script(pieces(sse(delta(content="a"), delta(content="b"), delta("stop")), b"data: [DONE]\n\n"))
    found = await collect(wire())
    assert found.batches == [(TextChunk("a"), TextChunk("b"), Stop("end"))]


async def test_a_connection_is_used_again_after_a_whole_answer(llm: FakeLLM, wire: Wire) -> None:
    here = wire()
    for _ in range(3):
        await collect(here)
    assert len({one["connection"] for one in llm.requests()}) == 1


async def test_calls_side_by_side_do_not_wait_for_each_other(llm: FakeLLM, wire: Wire) -> None:
    here = wire()
    llm.script(hold(say("slow"), 1), model="slow")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect, here, ask(model="slow"))
        await llm.until_held()
        assert (await collect(here)).end == "complete"
        llm.release()


FINISHES = {
    "stop": "end",
    "length": "output_limit",
    "tool_calls": "tool_calls",
    "content_filter": "filtered",
    "eos": "end",
}


@pytest.mark.parametrize(("finish", "stop"), FINISHES.items())
async def test_finish_reasons(finish: str, stop: StopReason, llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("Well", finish=finish))
    assert (await collect(wire())).stop == stop


async def test_only_the_first_finish_reason_counts_and_the_usage_after_it(llm: FakeLLM, wire: Wire) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    llm.script(chunks(delta(content="a"), delta("stop"), delta("length"), usage))
    assert (await collect(wire())).events == [TextChunk("a"), Stop("end"), UsageReport(5, 2)]


@pytest.mark.parametrize(
    ("usage", "report"),
    [
        (
            {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
            UsageReport(2, 3, 8),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}, UsageReport(6, 3, 4)),
        ({"prompt_tokens": 10, "completion_tokens": 3, "cached_tokens": 10}, UsageReport(0, 3, 10)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "cache_creation_input_tokens": 4,
                "cached_tokens": 1,
            },
            UsageReport(5, 3, 1, 4),
        ),
        ({"prompt_tokens": "10", "completion_tokens": "3"}, UsageReport(10, 3)),
        ({"prompt_tokens": 10, "completion_tokens": 3, "cost": 0.25}, UsageReport(10, 3, cost=0.25)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "total_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            UsageReport(10, 10),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 9,
                "total_tokens": 19,
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            UsageReport(10, 9),
        ),
        ({"prompt_tokens": 3, "completion_tokens": 1, "cached_tokens": 9}, UsageReport(0, 1, 9)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": None, "completion_tokens": "many"}, None),
        (None, None),
    ],
)
async def test_token_counts_are_disjoint(
    usage: dict[str, Any] | None, report: UsageReport | None, llm: FakeLLM, wire: Wire
) -> None:
    llm.script(chunks(delta(content="a"), delta("stop"), {"choices": [], "usage": usage}))
    assert (await collect(wire())).usage == report


async def test_token_counts_are_found_where_some_servers_put_them(llm: FakeLLM, wire: Wire) -> None:
    counts = {"prompt_tokens": 5, "completion_tokens": 2}
    in_choice = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": counts}]}
    llm.script(
        chunks(delta(content="a"), in_choice),
        chunks(delta(content="a"), {**delta("stop"), "x_groq": {"usage": counts}}),
    )
    assert [(await collect(wire())).usage for _ in range(2)] == [UsageReport(5, 2)] * 2


async def test_thinking_is_closed_with_what_brings_it_back(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("So.", reasoning=["Hm, ", "yes"], usage=None))
    assert (await collect(wire())).events == [
        ReasoningChunk("Hm, "),
        ReasoningChunk("yes"),
        ReasoningChunk(data={"field": "reasoning_content"}),
        TextChunk("So."),
        Stop("end"),
    ]


async def test_thinking_goes_back_under_the_name_under_which_it_came(llm: FakeLLM, wire: Wire) -> None:
    llm.script(chunks(delta(reasoning="Hm"), delta(content="So."), delta("stop")))
    found = await collect(wire())
    (block,) = [
        Reasoning("Hm", data=event.data)
        for event in found.events
        if isinstance(event, ReasoningChunk) and event.data
    ]
    origin = Origin("local", "fake-model", llm.base_url)
    answer = Message("assistant", (block, Text("So.")), "m2", NOON, origin)
    await collect(wire(), ask(said("Hello"), answer, said("And?", 3)))
    assert llm.bodies()[1]["messages"][2] == {"role": "assistant", "content": "So.", "reasoning": "Hm"}


async def test_structured_thinking_is_put_together(llm: FakeLLM, wire: Wire) -> None:
    first = {"type": "reasoning.text", "text": "Hm, ", "index": 0}
    second = {"type": "reasoning.text", "text": "yes", "index": 0, "signature": "sig"}
    other = {"type": "reasoning.encrypted", "data": "xx", "index": 1}
    llm.script(
        chunks(
            delta(reasoning="Hm", reasoning_details=[first]),
            delta(reasoning_details=[second, other]),
            delta("stop", content="So."),
        )
    )
    (data,) = [
        event.data
        for event in (await collect(wire())).events
        if isinstance(event, ReasoningChunk) and event.data
    ]
    assert data == {
        "field": "reasoning",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "Hm, yes", "index": 0, "signature": "sig"},
            other,
        ],
    }


async def test_content_in_parts_is_joined(llm: FakeLLM, wire: Wire) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    parts = [thinking, {"type": "text", "text": "He"}, {"type": "image"}, {"type": "text", "text": "llo"}]
    llm.script(chunks(delta(content=parts), delta("stop")))
    found = await collect(wire())
    assert (found.reasoning, found.text) == ("Hm", "Hello")


async def test_a_refusal_is_shown_and_named(llm: FakeLLM, wire: Wire) -> None:
    llm.script(chunks(delta(refusal="I cannot"), delta(refusal=" do this."), delta("stop")))
    found = await collect(wire())
    assert (found.text, found.stop) == ("I cannot do this.", "refused")


async def test_an_emoji_cut_in_two_by_the_server_is_whole(llm: FakeLLM, wire: Wire) -> None:
    raw = [
        f'data: {{"choices":[{{"delta":{{"content":"{piece}"}}}}]}}\n\n'
        for piece in ("a\\ud83d", "\\ude80b", "\\ud83d", "c")
    ]
    llm.script(pieces(*(piece.encode() for piece in raw), sse(delta("stop"))))
    assert (await collect(wire())).text == "a🚀b\ufffdc"


async def test_answers_beside_the_first_choice_are_left_out(llm: FakeLLM, wire: Wire) -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}]}
    llm.script(chunks(delta(content="A"), second, delta("stop")))
    assert (await collect(wire())).text == "A"


async def test_a_server_that_does_not_stream_is_understood(llm: FakeLLM, wire: Wire) -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"x"}'}}
    ] * 1
    calls += [{"type": "function", "function": {"name": "read_file", "arguments": '{"path":"y"}'}}]
    message = {"role": "assistant", "content": "Well.", "reasoning_content": "Hm", "tool_calls": calls}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    }
    llm.script({"body": body})
    found = await collect(wire())
    assert (found.reasoning, found.text, found.stop, found.usage) == (
        "Hm",
        "Well.",
        "tool_calls",
        UsageReport(4, 2),
    )
    assert [dict(one.arguments) for one in found.calls] == [{"path": "x"}, {"path": "y"}]


async def test_the_closing_mark_alone_ends_a_text(llm: FakeLLM, wire: Wire) -> None:
    llm.script(chunks(delta(content="Well.")))
    assert (await collect(wire())).stop == "end"


async def test_the_closing_mark_alone_makes_no_call_complete(llm: FakeLLM, wire: Wire) -> None:
    opening = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "delete_all", "arguments": ""}}])
    llm.script(chunks(opening))
    found = await collect(wire())
    assert found.stop is None
    assert [one.problem for one in found.calls] == ["incomplete"]


async def test_nothing_after_the_closing_mark_counts(llm: FakeLLM, wire: Wire) -> None:
    llm.script(
        pieces(
            sse(delta(content="a"), delta("stop"))
            + b"data: [DONE]\n\n"
            + sse(delta(content="b"), {"error": {"code": 500}})
        )
    )
    found = await collect(wire())
    assert (found.text, found.error) == ("a", None)


async def test_a_server_that_forgets_the_closing_mark_is_not_waited_for(llm: FakeLLM, wire: Wire) -> None:
    open_end = say("a", usage=None)
    open_end["steps"] = [*open_end["steps"][:-1], {"hold": "hold"}]
    llm.script(open_end)
    found = await collect(wire(limits=StreamLimits(after_stop=0.05)))
    assert (found.text, found.stop, found.error) == ("a", "end", None)


async def test_an_error_after_some_text_keeps_the_text_of_the_same_read(llm: FakeLLM, wire: Wire) -> None:
    llm.script(
        pieces(sse(delta(content="Well"), {"error": {"message": "Overloaded", "type": "overloaded_error"}}))
    )
    found = await collect(wire())
    assert found.text == "Well"
    assert found.error is not None
    assert found.error.kind == "overloaded"


def held_before_text() -> Answer:
    return hold(say("late"), 0)


def silent_after_text() -> Answer:
    return hold(say("a", "b"), 1)


def only_comments(after: int) -> Answer:
    answer = insert(say("a", "b"), after, *[{"comment": "ping"}, {"wait_ms": 10}] * 40)
    return insert(answer, after, {"comment": "ping"})


@pytest.mark.parametrize(
    ("answer", "limits", "text"),
    [
        ({"before": [{"hold": "hold"}], **say("late")}, StreamLimits(first_token=0.05), ""),
        (held_before_text(), StreamLimits(first_token=0.05), ""),
        (silent_after_text(), StreamLimits(between_tokens=0.05), "a"),
        (only_comments(0), StreamLimits(first_token=0.1), ""),
        (only_comments(1), StreamLimits(between_tokens=0.1), "a"),
        (say(*"abcdefghij" * 20, every_ms=5), StreamLimits(total=0.2), None),
    ],
    ids=[
        "no head",
        "no first token",
        "no next token",
        "comments before the first",
        "comments after it",
        "no end",
    ],
)
async def test_each_wait_has_its_limit_and_comments_are_no_sign_of_life(
    answer: Answer, limits: StreamLimits, text: str | None, llm: FakeLLM, wire: Wire
) -> None:
    llm.script(answer)
    found = await collect(wire(limits=limits))
    assert found.error is not None
    assert found.error.kind == "timeout"
    assert re.search(r"\(waited 0\.\d+ s\)", found.error.message)
    assert text is None or found.text == text
    assert (await llm.until_ended(0))["ended"] == "left"


async def test_slow_bytes_are_no_tokens(llm: FakeLLM, wire: Wire) -> None:
    trickle = [step for byte in b"data: {" for step in ({"raw": chr(byte)}, {"wait_ms": 20})]
    llm.script({"steps": [*trickle, {"hold": "hold"}]})
    found = await collect(wire(limits=StreamLimits(first_token=0.1)))
    assert found.error is not None
    assert found.error.kind == "timeout"


async def test_closing_the_iterator_closes_the_connection(llm: FakeLLM, wire: Wire) -> None:
    llm.script(silent_after_text())
    async with aclosing(wire().stream(ask())) as batches:
        assert await anext(batches) == (TextChunk("a"),)
    assert (await llm.until_ended(0))["ended"] == "left"


@pytest.mark.parametrize(
    "answer",
    [{"before": [{"hold": "hold"}], **say("a")}, silent_after_text()],
    ids=["before the head", "in the stream"],
)
async def test_cancelling_closes_the_connection_and_the_wire_works_on(
    answer: Answer, llm: FakeLLM, wire: Wire
) -> None:
    here = wire()
    llm.script(answer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect, here)
        await llm.until_held()
        tasks.cancel_scope.cancel()
    assert (await llm.until_ended(0))["ended"] == "left"
    assert (await collect(here)).end == "complete"


async def test_an_option_that_a_server_does_not_know_is_left_out_from_then_on(
    llm: FakeLLM, wire: Wire
) -> None:
    here = wire()
    llm.script(fail(400, "Unknown parameter: 'stream_options'.", code="unknown_parameter"))
    assert [(await collect(here)).end for _ in range(2)] == ["complete", "complete"]
    assert ["stream_options" in body for body in llm.bodies()] == [True, False, False]
    assert all("tools" in body for body in llm.bodies())


async def test_an_option_is_done_without_once_and_not_for_ever(llm: FakeLLM, wire: Wire) -> None:
    refusal = fail(400, "stream_options is not what is wrong here", code="invalid_request_error")
    llm.script(refusal, refusal, refusal)
    found = await collect(wire())
    assert found.error is not None
    assert found.error.kind == "invalid"
    assert len(llm.requests()) == 2


async def test_a_closing_answer_is_asked_for_without_the_choice_where_a_server_knows_none(
    llm: FakeLLM, wire: Wire
) -> None:
    llm.script(fail(400, "Unrecognized request argument supplied: tool_choice", code="unknown_parameter"))
    assert (await collect(wire(), ask(tool_choice="none"))).end == "complete"
    assert [body.get("tool_choice") for body in llm.bodies()] == ["none", None]


async def test_tools_are_never_left_out(llm: FakeLLM, wire: Wire) -> None:
    llm.script(fail(400, "fake-model does not support tools", code="invalid_request_error"))
    found = await collect(wire())
    assert found.error is not None
    assert "does not support tools" in found.error.message
    assert len(llm.requests()) == 1


async def test_the_limit_of_the_output_goes_under_the_name_that_the_server_wants(
    llm: FakeLLM, wire: Wire
) -> None:
    here = wire()
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    llm.script(fail(400, words, code="unsupported_parameter"))
    for _ in range(2):
        await collect(here, ask(max_output_tokens=50))
    assert [body.get("max_tokens") for body in llm.bodies()] == [50, None, None]
    assert [body.get("max_completion_tokens") for body in llm.bodies()] == [None, 50, 50]


@pytest.mark.parametrize(("session", "length"), [("s_1", 3), ("s" * 200, 64)])
async def test_the_session_is_the_cache_key_where_the_dialect_has_one(
    session: str, length: int, llm: FakeLLM, wire: Wire
) -> None:
    here = wire(dialect=Dialect(cache_field="prompt_cache_key"))
    for _ in range(2):
        await collect(here, ask(session_id=session))
    first, second = (body["prompt_cache_key"] for body in llm.bodies())
    assert first == second
    assert len(first) == length


async def test_a_history_that_grows_is_sent_with_the_same_beginning(llm: FakeLLM, wire: Wire) -> None:
    here = wire()
    first = said("Hello")
    answer = Message("assistant", (Text("Hi."),), "m2", NOON)
    await collect(here, ask(first, session_id="s"))
    await collect(here, ask(first, answer, said("And?", 3), session_id="s"))
    before, after = (body["messages"] for body in llm.bodies())
    assert after[: len(before)] == before
    assert [one["content"] for one in after] == ["Be brief.", "Hello", "Hi.", "And?"]


async def test_a_tool_call_and_its_result_go_round(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("Let me see.", calls=[call("read_file", {"path": "città.txt"}, pieces=5)]))
    (made,) = (await collect(wire())).calls
    assert (made.name, dict(made.arguments), made.problem) == ("read_file", {"path": "città.txt"}, None)


async def test_a_signature_of_a_call_goes_round(llm: FakeLLM, wire: Wire) -> None:
    added = {"google": {"thought_signature": "c2ln"}}
    function = {"name": "read_file", "arguments": "{}"}
    llm.script(
        chunks(delta("tool_calls", tool_calls=[{"id": "a", "function": function, "extra_content": added}]))
    )
    here = wire()
    (made,) = (await collect(here)).calls
    asked = Message("assistant", (made,), "m2", NOON, Origin("local", "fake-model", llm.base_url))
    await collect(here, ask(said("Read"), asked, Message("tool", (ToolResult("a", "A"),), "m3", NOON)))
    (sent,) = llm.bodies()[1]["messages"][2]["tool_calls"]
    assert sent["extra_content"] == added


def test_a_host_that_wants_each_step_signed_gets_a_stand_in() -> None:
    host = dialect_of("https://generativelanguage.googleapis.com/v1beta/openai")
    assert "skip_thought_signature_validator" in json.dumps(host.unsigned)
    assert dialect_of("https://api.openai.com/v1").unsigned is None


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ({"object": "list", "data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}, ("a", "b")),
        ({"models": [{"name": "a"}, {"model": "b"}, {}, 3]}, ("a", "b")),
        (["b", "a"], ("a", "b")),
        (
            {"data": [{"id": f"m{number:04}"} for number in range(5_000)]},
            tuple(f"m{number:04}" for number in range(1_000)),
        ),
        ({}, ()),
        ("nothing", ()),
    ],
)
async def test_models_are_listed_however_the_server_lays_them_out(
    listed: Any, names: tuple[str, ...], llm: FakeLLM, wire: Wire
) -> None:
    llm.script({"body": json.dumps(listed), "headers": {"content-type": "application/json"}}, path="/models")
    assert await wire().list_models() == names


async def test_a_right_key_is_told_in_words_with_the_models(llm: FakeLLM, wire: Wire) -> None:
    llm.knows(models=["a", "b"], keys=["right-key"])
    check = await wire(key="right-key").validate_auth()
    assert (check.ok, check.models) == (True, ("a", "b"))
    assert check.message == "local answers and lists 2 models."


async def test_a_wrong_key_is_told_in_words_and_never_shown(llm: FakeLLM, wire: Wire) -> None:
    llm.knows(keys=["right-key"])
    check = await wire(key="wrong-key").validate_auth()
    assert (check.ok, check.models) == (False, ())
    assert check.message == "local did not accept the key. Enter it again under Settings, Models."


async def test_a_key_is_asked_for_where_none_is_set(llm: FakeLLM, wire: Wire) -> None:
    llm.knows(keys=["right-key"])
    check = await wire(key=None).validate_auth()
    assert check.message == "local wants a key, and none is set. Add it under Settings, Models."


async def test_where_the_list_is_open_to_all_the_key_itself_is_asked_about(llm: FakeLLM, wire: Wire) -> None:
    llm.script(fail(401, "User not found."), path="/key")
    check = await wire(dialect=Dialect(auth_path="key")).validate_auth()
    assert not check.ok


def a_step_of_our_own(server: FakeLLM) -> tuple[Message, ...]:
    origin = Origin("local", "fake-model", server.base_url)
    thought = Reasoning("Hm", data={"field": "reasoning_content"})
    asked = Message("assistant", (thought, ToolCall("a", "read_file")), "m2", NOON, origin)
    return said("Read"), asked, Message("tool", (ToolResult("a", "A"),), "m3", NOON)


async def test_a_history_that_a_server_refuses_is_sent_with_less_and_the_chat_goes_on(
    llm: FakeLLM, wire: Wire
) -> None:
    here, history = wire(), a_step_of_our_own(llm)
    llm.script(fail(400, "messages.1: `thinking` blocks cannot be modified", type="invalid_request_error"))
    first = await collect(here, ask(*history, session_id="s"))
    second = await collect(here, ask(*history, said("And?", 4), session_id="s"))
    assert [first.end, second.end] == ["complete", "complete"]
    assert ["reasoning_content" in json.dumps(body) for body in llm.bodies()] == [True, False, False]
    assert first.batches[0] == (LeftOut(("thinking",)),)
    assert not any(isinstance(event, LeftOut) for event in second.events)


async def test_a_server_that_fails_on_a_form_is_sent_less_as_well(llm: FakeLLM, wire: Wire) -> None:
    llm.script(fail(500, "Jinja Exception: Tool calls are not supported", type="server_error"))
    answered = Message("assistant", (Text("It is A."),), "m4", NOON)
    found = await collect(wire(), ask(*a_step_of_our_own(llm), answered, said("And?", 5)))
    assert found.end == "complete"
    assert found.batches[0] == (LeftOut(("old_calls",)),)
    assert ["tool_calls" in json.dumps(body) for body in llm.bodies()] == [True, False]


async def test_a_picture_by_reference_goes_along(llm: FakeLLM, wire: Wire) -> None:
    here = wire(load_image={"results/a.png": ("image/png", png())}.get)
    await collect(here, ask(Message("user", (Image("results/a.png"),), "m1", NOON)))
    (part,) = llm.bodies()[0]["messages"][-1]["content"]
    assert part == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}


async def test_a_history_is_reduced_to_its_text_before_it_is_given_up(llm: FakeLLM, wire: Wire) -> None:
    refusal = fail(400, "Invalid value for 'content' in messages[1]", type="invalid_request_error")
    llm.always(refusal)
    found = await collect(wire(), ask(*a_step_of_our_own(llm)))
    assert found.error is not None
    assert found.error.kind == "invalid"
    assert "tools" not in llm.bodies()[-1]
    assert [one["role"] for one in llm.bodies()[-1]["messages"]] == ["system", "user", "assistant", "user"]
    assert len({json.dumps(body) for body in llm.bodies()}) == len(llm.bodies())


async def test_a_server_without_a_list_of_models_is_asked_in_another_way(llm: FakeLLM, wire: Wire) -> None:
    llm.script(fail(404, "Not Found"), path="/models")
    check = await wire().validate_auth()
    assert (check.ok, check.models) == (True, ())
    assert check.message == "local answers, but lists no models: enter the name of one yourself."
    llm.reset()


async def test_a_server_without_a_list_of_models_still_refuses_a_wrong_key() -> None:
    def answer(asked: httpx.Request) -> httpx.Response:
        return httpx.Response(404 if asked.url.path.endswith("/models") else 401)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        check = await OpenAICompatible("local", "http://server.test/v1", "wrong-key", client).validate_auth()
    assert not check.ok
    assert check.message == "local did not accept the key. Enter it again under Settings, Models."


async def test_an_address_without_a_model_server_is_told_in_words(llm: FakeLLM, wire: Wire) -> None:
    check = await wire(f"{llm.url}/v2").validate_auth()
    assert not check.ok
    assert "there is no model server at this address (HTTP 404). It usually ends in /v1" in check.message


async def test_a_list_of_models_without_end_is_read_no_further_than_an_answer() -> None:
    sent: list[bytes] = []

    async def spaces() -> AsyncIterator[bytes]:
        for _ in range(100):
            sent.append(b" " * 65_536)
            yield sent[-1]

    response = httpx.Response(200, content=spaces())
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda request: response)) as client:
        limits = StreamLimits(max_bytes=1_000_000)
        with pytest.raises(ProviderError):
            await OpenAICompatible(
                "local", "http://127.0.0.1:1/v1", None, client, limits=limits
            ).list_models()
    assert len(sent) == 16
    assert response.is_closed
