"""How Claude is asked to think: by effort, by a budget where a model wants one, not at all where it knows neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.engine.messages import Message, Origin, Reasoning, ToolCall, ToolResult
from app.providers.direct import DirectWire
from tests.fakes.anthropic_messages import signature
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail
from tests.providers.answers import NOON, ask, collect, said

pytestmark = pytest.mark.anyio

Speak = Callable[..., DirectWire]
ADAPTIVE = {"type": "adaptive", "display": "summarized"}
NO_ADAPTIVE = fail(400, "adaptive thinking is not supported on this model", type="invalid_request_error")
NO_THINKING = fail(400, "This model does not support thinking.", type="invalid_request_error")


def asked(llm: FakeLLM) -> list[Any]:
    return [body.get("thinking") for body in llm.bodies()]


async def test_nothing_is_asked_for_unless_the_request_does(llm: FakeLLM, speak: Speak) -> None:
    await collect(speak("anthropic"))
    assert not llm.bodies()[0].keys() & {"thinking", "output_config"}


async def test_effort_is_asked_for_first(llm: FakeLLM, speak: Speak) -> None:
    await collect(speak("anthropic"), ask(reasoning="low"))
    assert asked(llm) == [ADAPTIVE]
    assert llm.bodies()[0]["output_config"] == {"effort": "low"}


@pytest.mark.parametrize(("effort", "budget"), [("low", 4_096), ("medium", 10_000), ("high", 24_000)])
async def test_an_older_model_gets_a_budget_from_then_on(
    effort: str, budget: int, llm: FakeLLM, speak: Speak
) -> None:
    here = speak("anthropic")
    llm.script(NO_ADAPTIVE)
    for _ in range(2):
        assert (await collect(here, ask(reasoning=effort))).end == "complete"
    enabled = {"type": "enabled", "budget_tokens": budget}
    assert asked(llm) == [ADAPTIVE, enabled, enabled]
    assert "output_config" not in llm.bodies()[1]


async def test_a_model_that_cannot_think_is_asked_without_from_then_on(llm: FakeLLM, speak: Speak) -> None:
    here = speak("anthropic")
    llm.script(NO_ADAPTIVE, NO_THINKING)
    for _ in range(2):
        assert (await collect(here, ask(reasoning="low"))).end == "complete"
    assert [bool(one) for one in asked(llm)] == [True, True, False, False]


@pytest.mark.parametrize(("room", "budget"), [(9_000, 7_976), (2_048, 1_024), (2_047, None)])
async def test_a_budget_leaves_room_for_the_answer(
    room: int, budget: int | None, llm: FakeLLM, speak: Speak
) -> None:
    here = speak("anthropic")
    llm.script(NO_ADAPTIVE)
    await collect(here, ask(reasoning="medium", max_output_tokens=room))
    assert (asked(llm)[1] or {}).get("budget_tokens") == budget


def step(*blocks: Any, origin: Origin | None) -> tuple[Message, ...]:
    call = ToolCall("c", "read_file", {})
    return (
        said("Read"),
        Message("assistant", (*blocks, call), "m2", NOON, origin),
        Message("tool", (ToolResult("c", "A"),), "m3", NOON),
    )


@pytest.mark.parametrize("is_own", [True, False])
async def test_with_a_budget_a_step_that_another_model_began_is_gone_on_with_without_thinking(
    is_own: bool, llm: FakeLLM, speak: Speak
) -> None:
    here = speak("anthropic")
    llm.script(NO_ADAPTIVE)
    await collect(here, ask(reasoning="low"))
    thought = Reasoning("Hm.", data={"type": "thinking", "signature": signature("Hm.")})
    origin = Origin("local", "fake-model", llm.base_url) if is_own else None
    await collect(here, ask(*step(thought, origin=origin), reasoning="low"))
    assert bool(asked(llm)[-1]) is is_own


async def test_a_refusal_of_the_history_is_no_refusal_of_thinking(llm: FakeLLM, speak: Speak) -> None:
    here = speak("anthropic")
    words = "messages.1.content.0: Invalid `signature` in `thinking` block"
    llm.script(fail(400, words, type="invalid_request_error"))
    for _ in range(2):
        await collect(here, ask(reasoning="low"))
    assert asked(llm) == [ADAPTIVE] * len(asked(llm))
