"""A server that drops the beginning of a conversation without a word is noticed; one that only has a cache is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.engine.messages import Image, Message, Reasoning, Text
from app.engine.provider import LeftOut, Stop, UsageReport
from app.providers.direct import DirectWire
from app.providers.ollama_window import is_doubtful, least_sent, lost_beginning, read_window
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, fail, say
from tests.providers.answers import NOON, Collected, ask, collect, said

pytestmark = pytest.mark.anyio

Wire = Callable[..., DirectWire]

LONG = said("The tide turns at noon, and again at midnight. " * 1_200)
SENT = least_sent(ask(LONG))


@pytest.fixture
def wire(speak: Callable[..., DirectWire]) -> Wire:
    return lambda **given: speak("ollama", **given)


def loaded(window: Any, name: str = "fake-model:latest") -> Answer:
    return {"body": {"models": [{"name": name, "context_length": window}]}}


async def told(llm: FakeLLM, wire: DirectWire, read: int, ps: Answer | None = None) -> list[LeftOut]:
    """What is said to be missing where the server counts so many tokens of the long message."""
    llm.script(say("Yes.", usage=(read, 1)))
    if ps is not None:
        llm.script(ps, path="/ps")
    found = await collect(wire, ask(LONG))
    assert (found.end, found.text) == ("complete", "Yes.")
    return lost(found)


def lost(found: Collected) -> list[LeftOut]:
    return [event for event in found.events if isinstance(event, LeftOut)]


async def test_a_window_that_cannot_have_held_what_was_sent_is_told_after_the_answer(
    llm: FakeLLM, wire: Wire
) -> None:
    assert SENT > 8_192
    (left,) = await told(llm, wire(context=32_768), 3_211, loaded(4_096))
    assert left == LeftOut(("beginning",), SENT, 3_211, 4_096)


@pytest.mark.parametrize("read", [4_096, 4_095, 2_050, 2_048, 8_192])
async def test_of_a_server_that_names_no_window_a_count_that_fills_one_is_told(
    read: int, llm: FakeLLM, wire: Wire
) -> None:
    (left,) = await told(llm, wire(context=32_768), read)
    assert (left.read, left.window) == (read, None)


async def test_a_window_of_an_unusual_size_is_told_where_it_was_asked_for(llm: FakeLLM, wire: Wire) -> None:
    assert len(await told(llm, wire(context=6_000), 6_000)) == 1
    assert len(await told(llm, wire(context=6_000), 3_002)) == 1


@pytest.mark.parametrize("read", [1, 37, 1_900, 2_600, 5_000, 7_001])
async def test_what_a_cache_served_is_not_taken_for_lost(read: int, llm: FakeLLM, wire: Wire) -> None:
    assert await told(llm, wire(context=32_768), read) == []


@pytest.mark.parametrize("read", [37, 2_050, 4_096])
async def test_nor_is_it_where_the_window_holds_all_that_was_sent(
    read: int, llm: FakeLLM, wire: Wire
) -> None:
    assert await told(llm, wire(context=32_768), read, loaded(32_768)) == []


async def test_a_count_that_is_missing_says_nothing(llm: FakeLLM, wire: Wire) -> None:
    llm.script(say("Yes.", usage=None))
    assert lost(await collect(wire(), ask(LONG))) == []


async def test_a_server_that_counted_all_is_not_asked_for_its_window(llm: FakeLLM, wire: Wire) -> None:
    assert await told(llm, wire(), round(SENT * 0.9)) == []
    assert [one["path"] for one in llm.requests()] == ["/api/chat"]


@pytest.mark.parametrize(
    "ps", [fail(404, "not found"), {"body": []}, {"body": {"models": [7]}}, loaded("4096"), loaded(0)]
)
async def test_an_answer_stands_whatever_the_server_says_of_its_window(
    ps: Answer, llm: FakeLLM, wire: Wire
) -> None:
    assert await told(llm, wire(), 3_211, ps) == []


async def test_what_a_cache_served_is_counted_apart_where_the_server_says_it(
    llm: FakeLLM, wire: Wire
) -> None:
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 90, "eval_count": 2}
    hello = {"model": "m", "message": {"role": "assistant", "content": "Hi."}, "done": False}
    steps: list[Any] = [{"chunk": hello}, {"chunk": {**end, "prompt_eval_cached_count": 70}}]
    llm.script({"steps": steps})
    found = await collect(wire())
    assert found.usage == UsageReport(20, 2, 70)
    assert any(isinstance(event, Stop) for event in found.events)


def test_what_need_not_have_been_sent_is_not_counted_as_sent() -> None:
    seen = Message("assistant", (Reasoning("Hm. " * 9_000), Text("Yes.")), "m2", NOON)
    shown = Message("user", (Image("a.png"), Text("And this?")), "m3", NOON)
    assert least_sent(ask(said("Hello"), seen, shown)) < 200


@pytest.mark.parametrize(
    ("sent", "read", "doubtful"),
    [(10_000, 4_096, True), (10_000, 8_000, False), (10_000, 20_000, False), (10_000, 0, False)],
)
def test_a_count_is_doubtful_where_no_estimate_is_so_far_off(sent: int, read: int, doubtful: bool) -> None:
    assert is_doubtful(sent, read) == doubtful


def test_half_a_window_is_what_a_server_keeps_of_more_than_it_holds() -> None:
    assert lost_beginning(36_000, 16_387, asked=None, loaded=32_768)
    assert not lost_beginning(36_000, 15_000, asked=None, loaded=32_768)


def test_a_window_is_found_by_the_model_s_whole_name() -> None:
    listed = loaded(4_096, "qwen3:14b")["body"]
    assert read_window(listed, "qwen3:14b") == 4_096
    assert read_window(listed, "qwen3") is None
