"""A model source as a value: what the environment offers, whose prices count, which model is meant."""

from __future__ import annotations

import pytest

from app.providers.sources import SourceConfig, from_environment


def test_a_key_in_the_environment_is_a_source_that_holds_only_its_name() -> None:
    (source,) = from_environment({"GROQ_API_KEY": "gsk_secret", "HOME": "/home/anna"})
    assert source == SourceConfig("groq", "openai", keys=("GROQ_API_KEY",), origin="environment")
    assert "gsk_secret" not in repr(source)


def test_two_variables_of_one_host_are_two_keys_of_one_source() -> None:
    (source,) = from_environment({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"})
    assert source.keys == ("GEMINI_API_KEY", "GOOGLE_API_KEY")


def test_a_moved_address_alone_is_a_source_too() -> None:
    (source,) = from_environment({"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1", "OPENAI_API_KEY": ""})
    assert (source.base_url, source.keys) == ("http://127.0.0.1:8000/v1", ())


def test_several_hosts_stand_in_the_order_of_preference() -> None:
    environment = {"HF_TOKEN": "x", "OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x", "XAI_API_KEY": "x"}
    assert [one.name for one in from_environment(environment)] == [
        "anthropic",
        "openai",
        "xai",
        "huggingface",
    ]


@pytest.mark.parametrize(
    "environment", [{}, {"OPENAI_API_KEY": ""}, {"MY_OPENAI_API_KEY": "x"}, {"openai_api_key": "x"}]
)
def test_empty_and_similar_variables_are_no_source(environment: dict[str, str]) -> None:
    assert from_environment(environment) == ()


@pytest.mark.parametrize(
    ("source", "host"),
    [
        (SourceConfig("openai", "openai"), "openai"),
        (SourceConfig("work", "openai"), ""),
        (SourceConfig("together", "openai"), "together_ai"),
        (SourceConfig("claude-team", "anthropic"), "anthropic"),
        (SourceConfig("nebula", "litellm"), "nebula"),
        (SourceConfig("gemini", "litellm"), "gemini"),
        (SourceConfig("openai", "openai", "http://127.0.0.1:1/v1"), ""),
        (SourceConfig("anthropic", "anthropic", "https://gate"), ""),
        (SourceConfig("ollama", "ollama"), ""),
        (SourceConfig("openai", "gateway", "https://gate/v1"), ""),
    ],
    ids=lambda value: (
        f"{value.name}-{value.kind}-{bool(value.base_url)}" if isinstance(value, SourceConfig) else ""
    ),
)
def test_prices_are_those_of_the_host_that_is_really_asked(source: SourceConfig, host: str) -> None:
    assert source.host_name == host


def test_the_usual_models_are_its_own_else_those_its_host_is_known_for() -> None:
    assert SourceConfig("openai", "openai", models=("a", "b")).usual_models == ("a", "b")
    assert SourceConfig("anthropic", "anthropic").usual_models == ("claude-sonnet-5-5",)
    assert SourceConfig("azure", "litellm").usual_models == ()
    assert SourceConfig("lab", "openai", "http://127.0.0.1:1/v1").usual_models == ()
