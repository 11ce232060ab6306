"""Hosts reached through litellm, for real: the fake model server as a host that litellm knows."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.messages import Message, Origin, Text, ToolCall, ToolResult
from app.engine.provider import (
    CallFragment,
    LeftOut,
    ModelRequest,
    ReasoningChunk,
    Stop,
    StreamEvent,
    TextChunk,
    ToolDefinition,
    UsageReport,
)
from app.infra.clock import SystemClock
from app.providers.litellm import LiteLLM
from app.providers.stream_limits import StreamLimits
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, chunks, cut, fail, hold, page, say

# litellm trips over its own libraries' deprecations; they are no failures of a host.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdef"
READ = ToolDefinition("read_file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
ASK = ModelRequest("star-1", "Be brief.", (Message("user", (Text("Hello"),), "m1", ""),))


def host(url: str, **more: Any) -> LiteLLM:
    return LiteLLM("nebula", prefix="hosted_vllm", key=KEY, base_url=url, clock=SystemClock(), **more)


async def collect(provider: LiteLLM, request: ModelRequest = ASK) -> list[StreamEvent]:
    return list(await provider.complete(request))


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


async def refusal(provider: LiteLLM, request: ModelRequest = ASK) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await collect(provider, request)
    assert KEY not in f"{raised.value.message} {raised.value.detail}"
    return raised.value


async def test_text_thinking_and_usage_arrive_as_events(llm: FakeLLM) -> None:
    usage = {"input": 11, "output": 7, "cached": 3}
    llm.script(say("Hel", "lo", reasoning=["hm ", "ok"], usage=usage))
    events = await collect(host(llm.base_url))
    assert events == [
        ReasoningChunk("hm "),
        ReasoningChunk("ok"),
        TextChunk("Hel"),
        TextChunk("lo"),
        UsageReport(11, 7, cache_read_tokens=3),
        Stop("end"),
    ]


async def test_parallel_calls_keep_their_ids_and_places(llm: FakeLLM) -> None:
    llm.script(
        say("", calls=[call("read_file", {"path": "a"}, id="c1", pieces=3), call("list", {}, id="c2")])
    )
    events = await collect(host(llm.base_url))
    fragments = [event for event in events if isinstance(event, CallFragment)]
    assert [(one.index, one.id, one.name) for one in fragments if one.id] == [
        (0, "c1", "read_file"),
        (1, "c2", "list"),
    ]
    assert "".join(one.arguments or "" for one in fragments if one.index == 0) == '{"path": "a"}'
    assert events[-1] == Stop("tool_calls")


async def test_one_request_goes_out_and_it_is_ours(llm: FakeLLM) -> None:
    llm.script(say("Hi"))
    asked = ModelRequest(ASK.model, ASK.system, ASK.messages, (READ,), max_output_tokens=50)
    await collect(host(llm.base_url), asked)
    (request,) = llm.requests()
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    body = request["body"]
    assert body["model"] == "star-1"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["tools"][0]["function"]["name"] == "read_file"
    assert body["max_tokens"] == 50
    assert body["stream"] is True


async def test_no_more_is_asked_for_than_the_model_can_answer_with(llm: FakeLLM) -> None:
    await collect(host(llm.base_url), replace(ASK, max_output_tokens=5_000, longest_output=300))
    assert llm.bodies()[0]["max_tokens"] == 300


THINKING = replace(ASK, reasoning="high")


async def test_how_much_to_think_is_asked_for_only_where_it_is_wanted(llm: FakeLLM) -> None:
    llm.script(say("Hi"), say("Hi"))
    for request in (ASK, THINKING):
        await collect(host(llm.base_url), request)
    assert [body.get("reasoning_effort") for body in llm.bodies()] == [None, "high"]


async def test_a_host_that_refuses_an_effort_is_asked_without_from_then_on(llm: FakeLLM) -> None:
    here = host(llm.base_url)
    llm.script(fail(400, "Unknown parameter: reasoning_effort"), say("Hi"), say("Hi"))
    for _ in range(2):
        assert text_of(await collect(here, THINKING)) == "Hi"
    assert [body.get("reasoning_effort") for body in llm.bodies()] == ["high", None, None]


async def test_a_model_that_litellm_knows_to_have_no_effort_is_asked_without(llm: FakeLLM) -> None:
    llm.script(say("Hi"))
    together = LiteLLM("t", prefix="together_ai", key=KEY, base_url=llm.base_url, clock=SystemClock())
    assert text_of(await collect(together, THINKING)) == "Hi"
    assert "reasoning_effort" not in llm.bodies()[0]


async def test_calls_and_results_go_back_in_order(llm: FakeLLM) -> None:
    llm.script(say("Done"))
    history = (
        *ASK.messages,
        Message("assistant", (Text("I look."), ToolCall("c1", "read_file", {"path": "a"})), "m2", ""),
        Message("tool", (ToolResult("c1", "tea"),), "m3", ""),
    )
    await collect(host(llm.base_url), ModelRequest("star-1", "", history, (READ,)))
    sent = llm.bodies()[0]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == "c1"


async def test_an_output_limit_is_told_from_an_end(llm: FakeLLM) -> None:
    llm.script(say("Half", finish="length"))
    assert (await collect(host(llm.base_url)))[-1] == Stop("output_limit")


async def test_a_stream_that_merely_ends_has_no_stop(llm: FakeLLM) -> None:
    llm.script(say("Half of", finish=None))
    events = await collect(host(llm.base_url))
    assert text_of(events) == "Half of"
    assert not any(isinstance(event, Stop) for event in events)


async def test_a_web_page_in_place_of_an_answer_brings_no_content(llm: FakeLLM) -> None:
    llm.script(page())
    assert all(isinstance(event, Stop) for event in await collect(host(llm.base_url)))


@pytest.mark.parametrize("how", ["cut", "reset"])
async def test_a_dropped_stream_keeps_its_text_and_says_so(llm: FakeLLM, how: str) -> None:
    llm.script(cut(say("one ", "two ", "three"), 2, how=how))
    text = ""

    async def read() -> None:
        nonlocal text
        async for batch in host(llm.base_url).stream(ASK):
            text += text_of(list(batch))

    with pytest.raises(ProviderError) as raised:
        await read()
    assert text in ("one two ", "one ")
    assert (raised.value.kind, raised.value.retryable) == ("dropped", True)
    assert len(llm.requests()) == 1


@pytest.mark.parametrize(
    ("status", "message", "code", "kind"),
    [
        (400, "Unknown parameter: frame_rate", None, "invalid"),
        (400, "This model's maximum context length is 10 tokens", "context_length_exceeded", "overflow"),
        (401, "Incorrect API key provided", "invalid_api_key", "auth"),
        (402, "Insufficient credits", None, "balance"),
        (404, "The model `star-1` does not exist", "model_not_found", "unknown_model"),
        (413, "Request too large", None, "overflow"),
        (429, "Rate limit reached", "rate_limit_exceeded", "rate_limit"),
        (429, "You exceeded your current quota", "insufficient_quota", "balance"),
        (500, "Something broke", None, "server"),
        (503, "Overloaded", None, "overloaded"),
        (529, "Overloaded", "overloaded_error", "overloaded"),
    ],
)
async def test_each_refusal_has_its_kind_and_is_asked_once(
    llm: FakeLLM, status: int, message: str, code: str | None, kind: str
) -> None:
    llm.script(fail(status, message, code=code))
    error = await refusal(host(llm.base_url))
    assert (error.kind, error.status) == (kind, status)
    assert error.detail == message
    assert "nebula" in error.message or "star-1" in error.message
    assert len(llm.requests()) == 1


async def test_the_time_a_server_asks_for_is_kept(llm: FakeLLM) -> None:
    llm.script(fail(429, "Slow down", retry_after=7))
    assert (await refusal(host(llm.base_url))).retry_after == 7


async def test_an_error_inside_the_stream_is_an_error(llm: FakeLLM) -> None:
    llm.script(chunks({"error": {"message": "The engine is overloaded", "code": 503}}))
    assert (await refusal(host(llm.base_url))).kind == "overloaded"


async def test_nobody_at_the_address(llm: FakeLLM) -> None:
    error = await refusal(host("http://127.0.0.1:9/v1"))
    assert error.kind == "unreachable"
    assert "127.0.0.1:9" in error.message


async def test_a_server_that_says_nothing_runs_into_the_limit(llm: FakeLLM) -> None:
    llm.script(hold(say("a", "b"), 0), hold(say("a", "b"), 1))
    impatient = host(llm.base_url, limits=StreamLimits(first_token=0.2, between_tokens=0.2))
    first = await refusal(impatient)
    between = await refusal(impatient)
    assert first.kind == between.kind == "timeout"
    assert first.retryable


async def test_closing_the_stream_closes_the_connection(llm: FakeLLM) -> None:
    llm.script(hold(say("a", "b"), 1))
    stream = host(llm.base_url).stream(ASK)
    assert text_of(list(await anext(stream))) == "a"
    await stream.aclose()
    assert (await llm.until_ended(0))["ended"] == "left"


async def test_cancelling_while_nothing_has_come_closes_the_connection(llm: FakeLLM) -> None:
    llm.script(hold(say("a"), 0))
    async with anyio.create_task_group() as group:
        group.start_soon(collect, host(llm.base_url))
        await llm.until_held()
        group.cancel_scope.cancel()
    assert (await llm.until_ended(0))["ended"] == "left"


async def test_the_test_button_lists_models_or_says_what_is_wrong(llm: FakeLLM) -> None:
    llm.knows(models=["star-1", "star-2"], keys=[KEY])
    check = await host(llm.base_url).validate_auth()
    assert (check.ok, check.models) == (True, ("star-1", "star-2"))
    llm.knows(keys=["another"])
    check = await host(llm.base_url).validate_auth()
    assert not check.ok
    assert "key" in check.message
    assert not (await host("http://127.0.0.1:9/v1").validate_auth()).ok


async def test_a_key_of_the_environment_is_not_sent_to_an_address_of_ones_own(
    llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    keyless = LiteLLM("n", prefix="hosted_vllm", key=None, base_url=llm.base_url, clock=SystemClock())
    await collect(keyless)
    assert (await keyless.validate_auth()).ok
    assert KEY not in str(llm.requests())


async def test_a_host_that_cannot_be_tested_cheaply_says_so() -> None:
    check = await LiteLLM("b", prefix="", key=None, base_url=None, clock=SystemClock()).validate_auth()
    assert check.ok
    assert "first message will tell" in check.message


async def test_a_name_that_litellm_does_not_know_is_a_refusal_in_words() -> None:
    error = await refusal(LiteLLM("odd", prefix="", key=KEY, base_url=None, clock=SystemClock()))
    assert error.kind in ("invalid", "unknown_model")


def test_a_stop_while_litellm_is_still_being_imported_ends_the_program_at_once() -> None:
    code = """
import asyncio, sys
from app.providers.litellm_module import load

async def main():
    task = asyncio.ensure_future(load())
    while "litellm" not in sys.modules:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled())

asyncio.run(main())
print("imported" if hasattr(sys.modules["litellm"], "acompletion") else "left")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\nleft\n", "")


def test_importing_the_wire_does_not_import_litellm() -> None:
    code = "import sys, app.providers.litellm; assert 'litellm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_no_litellm_file_runs_at_every_start_of_python() -> None:
    site = Path(pytest.__file__).parents[1]
    assert list(site.glob("litellm*.pth")) == []


async def test_a_history_that_a_host_refuses_is_sent_with_less_and_the_chat_goes_on(llm: FakeLLM) -> None:
    provider = host(llm.base_url)
    origin = Origin("nebula", "star-1", llm.base_url)
    step = (
        *ASK.messages,
        Message("assistant", (Text("Let me see."), ToolCall("a", "read_file")), "m2", "", origin),
        Message("tool", (ToolResult("a", "A"),), "m3", ""),
        Message("assistant", (Text("It is A."),), "m4", "", origin),
        Message("user", (Text("And?"),), "m5", ""),
    )
    llm.script(fail(400, "messages.1: `tool_use` ids were found without `tool_result` blocks"), say("Well."))
    events = await collect(provider, ModelRequest("star-1", "", step, (READ,), session_id="s"))
    assert (events[0], text_of(events)) == (LeftOut(("old_calls",)), "Well.")
    later = await collect(provider, ModelRequest("star-1", "", step, (READ,), session_id="s"))
    assert not any(isinstance(event, LeftOut) for event in later)
    assert ["tool_calls" in json.dumps(body["messages"]) for body in llm.bodies()] == [True, False, False]


async def test_any_other_refusal_is_final_at_once(llm: FakeLLM) -> None:
    llm.script(fail(400, "Unexpected value for frame_rate", type="invalid_request_error"))
    assert (await refusal(host(llm.base_url))).kind == "invalid"
    assert len(llm.requests()) == 1
