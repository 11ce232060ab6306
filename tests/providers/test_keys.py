"""Where the keys of a source come from, and where none is looked for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.engine.errors import ProviderError
from app.infra.errors import SecretsUnreadable
from app.providers.keys import KEYLESS_KEY, Keys, NamedKey
from app.providers.sources import SourceConfig

HERE = SourceConfig("lab", "openai", "http://x/v1", keys=("one", "two"))


def keys(stored: Mapping[str, str] = {}, environment: Mapping[str, str] = {}) -> Keys:
    return Keys(stored.get, environment)


def test_stored_ones_and_variables_in_the_order_of_their_names() -> None:
    found = keys({"two": "b"}, {"one": "a"}).of(HERE, ())
    assert found == (NamedKey("one", "a"), NamedKey("two", "b"))
    assert "'a'" not in repr(found)


def test_the_same_key_under_two_names_is_one() -> None:
    assert keys({"one": "a", "two": "a"}).of(HERE, ()) == (NamedKey("one", "a"),)


def test_those_that_are_gone_are_missed_only_when_none_is_left() -> None:
    assert keys({"two": "b"}).of(HERE, ()) == (NamedKey("two", "b"),)
    with pytest.raises(ProviderError, match="nothing is stored or set under one, two"):
        keys().of(HERE, ())


def test_an_address_of_ones_own_gets_no_key_of_a_host() -> None:
    elsewhere = SourceConfig("openai", "openai", "http://127.0.0.1:9/v1")
    found = keys(environment={"OPENAI_API_KEY": "k"})
    assert found.of(elsewhere, ()) == (KEYLESS_KEY,)
    assert found.names(elsewhere) == ()


def test_a_secret_that_is_called_like_a_variable_is_no_key_of_the_environment() -> None:
    with pytest.raises(ProviderError, match="OpenAI has no key yet"):
        keys({"OPENAI_API_KEY": "stored"}).of(SourceConfig("openai", "openai"), ())


def test_names_are_told_without_reading_a_key() -> None:
    def locked(name: str) -> str | None:
        raise SecretsUnreadable("The drawer is locked.")

    found = Keys(locked, {"GEMINI_API_KEY": "k"})
    assert found.names(HERE) == ("one", "two")
    assert found.names(SourceConfig("gemini", "litellm")) == ("GEMINI_API_KEY",)
    with pytest.raises(ProviderError, match="The drawer is locked"):
        found.of(HERE, ())
