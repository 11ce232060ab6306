"""What the user says of single models is kept, checked, and gone when it is taken back."""

from __future__ import annotations

from math import inf

import pytest

from app.providers.model_facts import NOTHING_SAID, OwnFacts
from app.workspace.errors import InvalidSource
from app.workspace.model_facts import forget_facts, list_facts, say_of_model
from app.workspace.store import Store

ALL = OwnFacts(8_000, 1_000, 0.5, 1.5, images=True, reasoning=False, tools=True)


def test_what_is_said_comes_back_by_source_and_model(store: Store) -> None:
    say_of_model(store, "lab", "big", ALL)
    say_of_model(store, "lab", "org/small:7b", OwnFacts(images=False))
    assert list_facts(store) == {("lab", "big"): ALL, ("lab", "org/small:7b"): OwnFacts(images=False)}


def test_the_last_word_counts_and_nothing_said_leaves_nothing(store: Store) -> None:
    say_of_model(store, "lab", "big", ALL)
    say_of_model(store, "lab", "big", OwnFacts(context=16_000))
    assert list_facts(store) == {("lab", "big"): OwnFacts(context=16_000)}
    say_of_model(store, "lab", "big", NOTHING_SAID)
    assert list_facts(store) == {}


def test_a_source_is_forgotten_with_all_its_models(store: Store) -> None:
    for source, model in (("lab", "a"), ("lab", "b"), ("lab2", "a")):
        say_of_model(store, source, model, ALL)
    forget_facts(store, "lab")
    assert list(list_facts(store)) == [("lab2", "a")]


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        (OwnFacts(context=0), "context"),
        (OwnFacts(max_output=-1), "max_output"),
        (OwnFacts(price_in=1.0), "price_out"),
        (OwnFacts(price_out=0.0), "price_in"),
        (OwnFacts(price_in=-1.0, price_out=1.0), "price_in"),
        (OwnFacts(price_in=1.0, price_out=inf), "price_out"),
    ],
)
def test_a_figure_that_cannot_be_is_refused_beside_its_field(
    store: Store, facts: OwnFacts, field: str
) -> None:
    with pytest.raises(InvalidSource) as refused:
        say_of_model(store, "lab", "big", facts)
    assert refused.value.field == field
    assert list_facts(store) == {}
