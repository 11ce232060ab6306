"""What the user says of single models: window, limits, prices, abilities. What nobody said is looked up elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.models.tables import ModelFacts
from app.providers.model_facts import NOTHING_SAID, OwnFacts
from app.workspace.errors import InvalidSource
from app.workspace.store import Store


def list_facts(store: Store) -> Mapping[tuple[str, str], OwnFacts]:
    """By source and model."""
    return dict(store.database.rows(_said, ModelFacts.select()))


def say_of_model(store: Store, source: str, model: str, facts: OwnFacts) -> None:
    """This, and nothing else, is said of the model. Raises ``InvalidSource``; ``field`` names what is wrong."""
    _check(model, facts)
    with store.database.transaction():
        store.database.run(ModelFacts.delete().where(ModelFacts.source == source, ModelFacts.model == model))
        if facts != NOTHING_SAID:
            store.database.run(ModelFacts.insert(source=source, model=model, **asdict(facts)))


def forget_facts(store: Store, source: str) -> None:
    """Nothing is said of the models of that source any more."""
    store.database.run(ModelFacts.delete().where(ModelFacts.source == source))


def _check(model: str, facts: OwnFacts) -> None:
    for field in ("context", "max_output"):
        tokens = getattr(facts, field)
        if tokens is not None and tokens < 1:
            raise InvalidSource(f"{model} takes a number of tokens above 0 here.", field)
    for field, other in (("price_in", "price_out"), ("price_out", "price_in")):
        price = getattr(facts, field)
        if price is not None and (price < 0 or not math.isfinite(price)):
            raise InvalidSource("A price is in US dollars per million tokens, 0 or more.", field)
        if price is None and getattr(facts, other) is not None:
            raise InvalidSource("Give both prices or none: the one for input and for output.", field)


def _said(source: str, model: str, *values: Any) -> tuple[tuple[str, str], OwnFacts]:
    return (source, model), OwnFacts(*values)
