"""A limit on what runs may cost, between them and their models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.engine.errors import ProviderError
from app.engine.events import Usage
from app.engine.provider import ModelRequest, ModelSource, ResolvedModel
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolOutput
from app.infra.clock import SystemClock
from app.providers.budget import Budget, Limit
from app.providers.demo import Demo
from tests.engine.test_runner import Tool, agent, done_of, harness

REQUEST = ModelRequest("model", "", ())
UNPRICED = ResolvedModel(Demo(SystemClock()), "tour")


def budget(models: ModelSource, spent: Callable[[], float], *, strict: bool = True) -> Budget:
    """One dollar for this run."""
    return Budget(
        models, lambda: (Limit(1.0, spent(), "The budget of this run", "Allow more."),), lambda: strict
    )


class Models:
    def __init__(self, model: ResolvedModel) -> None:
        self.model = model

    def resolve(self, name: str | None) -> ResolvedModel:
        return self.model


@pytest.mark.anyio
async def test_calls_are_made_until_the_limit_is_reached() -> None:
    spent = [0.0]
    model = ScriptedModel(say("one"), say("two"), say("three"))
    provider = budget(model, lambda: spent[0]).resolve(None).provider
    assert await provider.complete(REQUEST)
    spent[0] = 0.999
    assert [batch async for batch in provider.stream(REQUEST)]
    spent[0] = 1.0
    with pytest.raises(
        ProviderError, match=r"this run is spent: \$1.0000 of \$1.0000.* Allow more\."
    ) as refused:
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
    within = replace(harness(model), models=budget(model, lambda: spent[0]))
    happened = [
        event async for event in run(agent(Dear("look")), session, [UserInput("hello", "u1")], within)
    ]
    done = done_of(happened)
    assert (done.status, done.reason, len(model.requests)) == ("failed", "budget", 1)
    assert sum(isinstance(event, Usage) for event in happened) == 1


def test_a_model_that_nobody_knows_the_price_of_is_not_called() -> None:
    with pytest.raises(ProviderError, match="price of demo/tour is not known"):
        budget(Models(UNPRICED), lambda: 0.0).resolve(None)


@pytest.mark.anyio
async def test_a_group_that_takes_over_is_counted_too_and_one_without_a_price_is_passed_over() -> None:
    model = ScriptedModel(say("one"))
    priced = model.resolve("second")
    unpriced = replace(UNPRICED, fallback=lambda: priced)
    first = budget(Models(replace(priced, fallback=lambda: unpriced)), lambda: 1.0).resolve(None)
    following = first.fallback()
    assert following is not None
    assert following.label == "scripted/second"
    with pytest.raises(ProviderError, match="is spent"):
        following.provider.stream(REQUEST)
    assert following.fallback() is None


@pytest.mark.anyio
async def test_where_it_need_not_hold_a_model_without_a_price_is_asked_and_counted_no_less() -> None:
    spent = [0.0]
    model = budget(Models(UNPRICED), lambda: spent[0], strict=False).resolve(None)
    assert model.label == "demo/tour"
    spent[0] = 1.0
    with pytest.raises(ProviderError, match="is spent"):
        model.provider.stream(REQUEST)


@pytest.mark.anyio
async def test_without_a_limit_nothing_stands_in_the_way() -> None:
    model = ScriptedModel(say("one"))
    free = Budget(model, tuple, lambda: True).resolve(None).provider
    assert await free.complete(REQUEST)
    assert Budget(Models(UNPRICED), tuple, lambda: True).resolve(None).label == "demo/tour"


def test_the_first_limit_that_is_met_is_told() -> None:
    limits = (Limit(5.0, 1.0, "The one", ""), Limit(0.01, 0.01, "The other", "Wait."))
    with pytest.raises(ProviderError, match="The other is spent"):
        Budget(Models(UNPRICED), lambda: limits, lambda: False).check()
