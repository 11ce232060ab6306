"""Model sources: kept in the user's order, checked before they are kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.providers.model_facts import OwnFacts
from app.providers.order import groups
from app.providers.sources import SourceConfig
from app.workspace.errors import InvalidSource, NotFound
from app.workspace.model_facts import list_facts, say_of_model
from app.workspace.model_sources import (
    add_source,
    change_source,
    find_source,
    leave_out,
    list_order,
    list_sources,
    load_source,
    order_models,
    remove_source,
)
from app.workspace.store import Store

FULL = SourceConfig(
    name="workshop",
    kind="openai",
    base_url="https://models.example.net/v1",
    models=("small", "org/large:7b"),
    context=32_000,
    max_output=4_000,
    price_in=0.5,
    price_out=1.5,
    keys=("WORKSHOP_KEY", "provider:workshop:1"),
)


def names(store: Store) -> list[str]:
    return [source.name for source in list_sources(store)]


def test_a_source_comes_back_as_it_was_added(store: Store) -> None:
    assert add_source(store, FULL) == FULL
    assert list_sources(store) == (FULL,)
    assert find_source(store, "workshop") == FULL == load_source(store, "workshop")


def test_the_least_that_is_needed(store: Store) -> None:
    for source in (
        SourceConfig("openai", "openai"),
        SourceConfig("ollama", "ollama"),
        SourceConfig("anthropic", "anthropic"),
    ):
        assert add_source(store, source) == source


def test_a_source_is_tidied_up(store: Store) -> None:
    untidy = replace(FULL, base_url="  https://models.example.net/v1// ", models=(" small", "large", "small"))
    tidy = add_source(store, untidy)
    assert (tidy.base_url, tidy.models) == ("https://models.example.net/v1", ("small", "large"))


def test_sources_stand_in_the_order_of_adding(store: Store) -> None:
    for name in ("zeta", "alpha", "mid"):
        add_source(store, replace(FULL, name=name))
    assert names(store) == ["zeta", "alpha", "mid"]


def test_a_name_is_taken_once(store: Store) -> None:
    add_source(store, FULL)
    with pytest.raises(InvalidSource, match=r'"workshop" already.*provider remove workshop'):
        add_source(store, replace(FULL, models=()))
    assert list_sources(store) == (FULL,)


def test_a_change_keeps_the_place(store: Store) -> None:
    for name in ("one", "two", "three"):
        add_source(store, replace(FULL, name=name))
    changed = change_source(store, replace(FULL, name="two", models=("new",), keys=()))
    assert list_sources(store)[1] == changed
    with pytest.raises(NotFound, match=r'no model source "four"\. There are: one, two, three'):
        change_source(store, replace(FULL, name="four"))


def test_a_removed_source_is_returned_for_its_keys(store: Store) -> None:
    for name in ("one", "two", "three"):
        add_source(store, replace(FULL, name=name))
    assert remove_source(store, "two").keys == FULL.keys
    add_source(store, replace(FULL, name="four"))
    assert names(store) == ["one", "three", "four"]
    with pytest.raises(NotFound):
        remove_source(store, "two")


def test_without_any_source(store: Store) -> None:
    assert list_sources(store) == ()
    assert find_source(store, "x") is None
    with pytest.raises(NotFound, match="none yet"):
        load_source(store, "x")


def test_models_are_preferred_in_the_order_given(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a", "b", "c")))
    add_source(store, replace(FULL, name="two", models=("x", "org/y")))
    add_source(store, replace(FULL, name="three", models=()))
    order = order_models(store, ["three", "two/org/y", "one/c"])
    assert [(source.name, source.models) for source in order] == [
        ("three", ()),
        ("two", ("org/y", "x")),
        ("one", ("c", "a", "b")),
    ]
    assert list_sources(store) == order
    assert order_models(store, []) == order


def test_a_model_that_is_left_out_has_no_place_and_is_offered_all_the_same(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a", "b", "c")))
    add_source(store, replace(FULL, name="two", models=("x",)))
    leave_out(store, "one/a")
    sources = list_sources(store)
    assert sources[0].models == ("b", "c", "a")
    assert [group.label for group in groups(sources, list_order(store))] == ["one/b", "one/c", "two/x"]
    order_models(store, ["two/x", "one/a"])
    assert [group.label for group in groups(list_sources(store), list_order(store))][:2] == ["two/x", "one/a"]
    with pytest.raises(NotFound):
        leave_out(store, "one/zzz")


def test_with_a_source_all_that_was_said_of_its_models_goes(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a",)))
    say_of_model(store, "one", "a", OwnFacts(images=False))
    remove_source(store, "one")
    assert list_facts(store) == {}


@pytest.mark.parametrize("label", ["four/a", "one/zzz", ""])
def test_an_order_of_unknown_models_changes_nothing(store: Store, label: str) -> None:
    add_source(store, replace(FULL, name="one", models=("a", "b")))
    with pytest.raises(NotFound):
        order_models(store, ["one/b", label])
    assert list_sources(store)[0].models == ("a", "b")


def asked(store: Store) -> list[str]:
    return [group.label for group in groups(list_sources(store), list_order(store))]


def test_models_are_asked_in_the_order_of_adding_until_an_order_is_given(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a", "b")))
    add_source(store, replace(FULL, name="two", models=("x",)))
    assert asked(store) == ["one/a", "one/b", "two/x"]
    order_models(store, ["one/b", "two/x"])
    assert asked(store) == ["one/b", "two/x", "one/a"]
    assert find_source(store, "one") == replace(FULL, name="one", models=("b", "a"))


def test_of_models_that_nobody_named_only_the_preferred_one_is_asked(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a", "b", "c")), in_order=())
    add_source(store, replace(FULL, name="two", models=()))
    change_source(store, replace(FULL, name="two", models=("x", "y")))
    add_source(store, replace(FULL, name="three", models=("m",)))
    assert asked(store) == ["one/a", "two/x", "three/m"]
    order_models(store, ["two", "one/c"])
    assert asked(store) == ["two/x", "one/c", "three/m"]


def test_a_source_that_moves_takes_its_places_along(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a", "b")))
    add_source(store, replace(FULL, name="two", models=("x", "y")))
    order_models(store, ["two", "one"])
    assert asked(store) == ["two/x", "two/y", "one/a", "one/b"]


def test_what_is_removed_leaves_the_order(store: Store) -> None:
    add_source(store, replace(FULL, name="one", models=("a",)))
    add_source(store, replace(FULL, name="two", models=("x", "y")))
    order_models(store, ["two/y", "one/a"])
    remove_source(store, "two")
    assert (asked(store), list_order(store)) == (["one/a"], ("one/a", "one"))
    add_source(store, replace(FULL, name="two", models=("x", "y")))
    assert asked(store) == ["one/a", "two/x", "two/y"]


OPENAI = SourceConfig("openai", "openai", keys=("OPENAI_API_KEY",), origin="environment")
ANTHROPIC = SourceConfig("anthropic", "anthropic", keys=("ANTHROPIC_API_KEY",), origin="environment")
FOUND = (ANTHROPIC, OPENAI)


def seen(store: Store, *found: SourceConfig) -> list[str]:
    """The sources as they are asked, each once."""
    order = groups((*list_sources(store), *found), list_order(store))
    return list(dict.fromkeys(group.source.name for group in order))


@pytest.fixture
def two(store: Store) -> Store:
    for name in ("one", "two"):
        add_source(store, replace(FULL, name=name, models=("x",)))
    return store


def test_a_source_of_the_environment_stands_where_it_was_moved_to(two: Store) -> None:
    assert seen(two, *FOUND) == ["one", "two", "anthropic", "openai"]
    order_models(two, ["one/x", "openai/gpt-6.1-sol", "two/x"], FOUND)
    assert seen(two, *FOUND) == ["one", "openai", "two", "anthropic"]
    order_models(two, ["openai", "anthropic"], FOUND)
    assert seen(two, *FOUND) == ["openai", "anthropic", "one", "two"]


def test_it_stands_there_with_the_model_that_it_is_known_for_at_the_time(two: Store) -> None:
    order_models(two, [f"openai/{OPENAI.usual_models[0]}"], FOUND)
    assert "openai" in list_order(two)
    assert not any(place.startswith("openai/") for place in list_order(two))


def test_one_whose_variable_is_gone_keeps_its_place_until_it_is_back(two: Store) -> None:
    order_models(two, ["openai", "one", "anthropic", "two"], FOUND)
    assert seen(two) == ["one", "two"]
    order_models(two, ["two", "one"])
    assert seen(two) == ["two", "one"]
    assert seen(two, *FOUND) == ["openai", "two", "anthropic", "one"]


def test_a_source_that_is_added_comes_before_those_that_nobody_moved(two: Store) -> None:
    order_models(two, ["two", "one"], FOUND)
    add_source(two, replace(FULL, name="three", models=("x",)))
    assert seen(two, *FOUND) == ["two", "one", "three", "anthropic", "openai"]


def test_those_that_were_put_in_another_order_at_the_end_stay_so(two: Store) -> None:
    order_models(two, ["one", "two", "openai", "anthropic"], FOUND)
    assert seen(two, *FOUND) == ["one", "two", "openai", "anthropic"]


def test_a_source_of_the_same_name_takes_the_place_and_leaves_it(two: Store) -> None:
    order_models(two, ["openai"], FOUND)
    add_source(two, replace(FULL, name="openai", models=("own",)))
    assert asked(two)[0] == "openai/own"
    order_models(two, ["one/x", "openai/own"], FOUND)
    remove_source(two, "openai")
    assert seen(two, *FOUND) == ["one", "two", "anthropic", "openai"]


def test_the_environment_gives_a_source_one_place(two: Store) -> None:
    with pytest.raises(NotFound, match="one place in the order"):
        order_models(two, ["openai/gpt-4o"], FOUND)
    with pytest.raises(NotFound, match="no model source"):
        order_models(two, ["openai"])
