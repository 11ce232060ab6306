"""A limit on what a run may cost, between the run and its models."""

from __future__ import annotations

import pytest

from app.commands.budget import Budget
from app.engine.errors import ProviderError
from app.engine.provider import ResolvedModel
from app.infra.clock import SystemClock
from app.providers.demo import Demo

FREE = ResolvedModel(Demo(SystemClock()), "tour", price_in=0.0, price_out=0.0)
UNPRICED = ResolvedModel(Demo(SystemClock()), "tour")


class Models:
    def __init__(self, model: ResolvedModel) -> None:
        self.model = model

    def resolve(self, name: str | None) -> ResolvedModel:
        return self.model


def test_calls_are_let_through_until_the_limit_is_reached() -> None:
    spent = [0.0]
    budget = Budget(Models(FREE), 1.0, lambda: spent[0])
    assert budget.resolve(None) is FREE
    spent[0] = 0.999
    assert budget.resolve(None) is FREE
    spent[0] = 1.0
    with pytest.raises(ProviderError, match=r"\$1.0000 is spent") as refused:
        budget.resolve(None)
    assert refused.value.kind == "budget"


def test_a_model_that_nobody_knows_the_price_of_is_not_called() -> None:
    with pytest.raises(ProviderError, match="price of demo/tour is not known"):
        Budget(Models(UNPRICED), 1.0, lambda: 0.0).resolve(None)
