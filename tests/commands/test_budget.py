"""A limit on what a run may cost, between the run and its models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.commands.budget import Budget
from app.engine.errors import ProviderError
from app.engine.events import Usage
from app.engine.provider import ModelRequest, ResolvedModel
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolOutput
from app.infra.clock import SystemClock
from app.providers.demo import Demo
from tests.engine.test_runner import Tool, agent, done_of, harness

REQUEST = ModelRequest("model", "", ())
UNPRICED = ResolvedModel(Demo(SystemClock()), "tour")


class Models:
    def __init__(self, model: ResolvedModel) -> None:
        self.model = model

    def resolve(self, name: str | None) -> ResolvedModel:
        return self.model


@pytest.mark.anyio
async def test_calls_are_made_until_the_limit_is_reached() -> None:
    spent = [0.0]
    model = ScriptedModel(say("one"), say("two"), say("three"))
    provider = Budget(model, 1.0, lambda: spent[0]).resolve(None).provider
    assert await provider.complete(REQUEST)
    spent[0] = 0.999
    assert [batch async for batch in provider.stream(REQUEST)]
    spent[0] = 1.0
    with pytest.raises(ProviderError, match=r"\$1.0000 is spent") as refused:
        provider.stream(REQUEST)
    assert refused.value.kind == "budget"
    with pytest.raises(ProviderError):
        await provider.complete(REQUEST)
    assert len(model.requests) == 2


@pytest.mark.anyio
async def test_a_run_that_meets_the_limit_ends_between_two_steps() -> None:
    spent = [0.0]

    class Dear(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            spent[0] = 2.0
            return ToolOutput("seen")

    session, model = MemorySession("s"), ScriptedModel([call("look")], say("never"))
    within = replace(harness(model), models=Budget(model, 1.0, lambda: spent[0]))
    happened = [
        event async for event in run(agent(Dear("look")), session, [UserInput("hello", "u1")], within)
    ]
    done = done_of(happened)
    assert (done.status, done.reason, len(model.requests)) == ("failed", "budget", 1)
    assert sum(isinstance(event, Usage) for event in happened) == 1


def test_a_model_that_nobody_knows_the_price_of_is_not_called() -> None:
    with pytest.raises(ProviderError, match="price of demo/tour is not known"):
        Budget(Models(UNPRICED), 1.0, lambda: 0.0).resolve(None)


@pytest.mark.anyio
async def test_a_group_that_takes_over_is_counted_too_and_one_without_a_price_is_passed_over() -> None:
    model = ScriptedModel(say("one"))
    priced = model.resolve("second")
    unpriced = replace(UNPRICED, fallback=lambda: priced)
    first = Budget(Models(replace(priced, fallback=lambda: unpriced)), 1.0, lambda: 1.0).resolve(None)
    following = first.fallback()
    assert following is not None
    assert following.label == "scripted/second"
    with pytest.raises(ProviderError, match="is spent"):
        following.provider.stream(REQUEST)
    assert following.fallback() is None
