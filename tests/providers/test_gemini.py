"""Gemini as litellm reaches it, for real: recorded streams, faults of its own, and its keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.infra.clock import SystemClock
from app.providers.litellm import LiteLLM
from tests.case_tables import load_jsonl
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, chunks, say
from tests.providers.answers import Collected, ask, collect

# litellm trips over its own libraries' deprecations; they are no failures of a host.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

KEY = "AIza-0123456789abcdef"

MADE_UP = ("ge_no_finish",)
"""litellm gives every piece of Gemini's a reason to stop, so one that was cut there cannot be told from a whole one."""

TRACES = [
    row
    for row in load_jsonl("stream_traces.jsonl")
    if row["dialect"] == "gemini" and row["id"] not in MADE_UP
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
async def one_loop() -> AsyncIterator[None]:
    """litellm keeps its connections to this host for the loop that opened them, as a server does that runs once."""
    yield
    from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

    await close_litellm_async_clients()


async def answer(llm: FakeLLM, script: Answer | None = None) -> Collected:
    if script is not None:
        llm.script(script)
    wire = LiteLLM("gemini", prefix="gemini", key=KEY, base_url=f"{llm.url}/v1beta", clock=SystemClock())
    return await collect(wire, ask(model="gemini-flash-latest"))


def kept(call_data: Any) -> Any:
    """What has to come back with a call."""
    return call_data and call_data["provider_specific_fields"]


@pytest.mark.parametrize("row", TRACES, ids=[row["id"] for row in TRACES])
async def test_a_trace_becomes_its_answer(row: dict[str, Any], llm: FakeLLM) -> None:
    found, expected = await answer(llm, chunks(*row["events"])), row["expect"]
    assert (found.text, found.reasoning) == (expected["text"], expected.get("reasoning", ""))
    assert [(one.name, dict(one.arguments)) for one in found.calls] == [
        (wanted["name"], wanted["arguments"]) for wanted in expected["calls"]
    ]
    assert [kept(one.data) for one in found.calls] == [wanted.get("keep") for wanted in expected["calls"]]
    assert len({one.id for one in found.calls}) == len(found.calls)
    assert found.end in expected["end"].split(" | ")


async def test_a_stream_of_events_is_asked_for(llm: FakeLLM) -> None:
    found = await answer(llm, say("Hel", "lo", calls=[call("read_file", {"path": "a"})]))
    assert (found.text, [one.name for one in found.calls]) == ("Hello", ["read_file"])
    (request,) = llm.requests()
    assert (request["query"]["alt"], request["key"]) == ("sse", KEY)


async def test_one_array_in_place_of_a_stream_is_read_or_refused_in_words(llm: FakeLLM) -> None:
    array = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]}
    ]
    found = await answer(llm, {"body": array})
    assert found.text == "Hi." or (found.error is not None and found.error.kind == "server")


async def test_a_prompt_that_was_blocked_is_no_failure_to_try_again(llm: FakeLLM) -> None:
    found = await answer(llm, chunks({"promptFeedback": {"blockReason": "SAFETY"}}))
    assert (found.end, found.error) == ("filtered", None)


async def test_a_call_that_the_model_spoiled_brings_nothing_and_is_asked_for_again(llm: FakeLLM) -> None:
    spoiled = {"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}
    found = await answer(llm, chunks(spoiled))
    assert (found.text, found.calls, found.end) == ("", (), "empty")


@pytest.mark.parametrize(
    ("state", "kind"),
    [("bad", "auth"), ("broke", "balance"), ("limited:7", "rate_limit"), ("expired", "subscription")],
)
async def test_the_states_of_its_keys_are_told_apart(state: str, kind: str, llm: FakeLLM) -> None:
    llm.knows(keys={KEY: state})
    error = (await answer(llm)).error
    assert error is not None
    assert (error.kind, KEY in error.message) == (kind, False)
