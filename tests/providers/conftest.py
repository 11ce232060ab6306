"""What the tests of the wires share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from app.providers.anthropic_compatible import AnthropicCompatible
from app.providers.direct import DirectWire
from app.providers.ollama import Ollama
from app.providers.openai_compatible import OpenAICompatible
from app.providers.openai_responses import OpenAIResponses
from tests.fakes.llm_client import FakeLLM


@pytest.fixture
def wire(llm: FakeLLM, http_client: httpx.AsyncClient) -> Callable[..., OpenAICompatible]:
    """Makes a wire to the fake server; its address, key and limits may be given."""

    def make(
        base_url: str | None = None, key: str | None = "sk-test-0123456789abcdef", **rest: Any
    ) -> OpenAICompatible:
        return OpenAICompatible("local", base_url or llm.base_url, key, http_client, **rest)

    return make


def responses(id: str, base_url: str, *rest: Any, **given: Any) -> OpenAIResponses:
    return OpenAIResponses(id, base_url, *rest, base_url, **given)


SPEAKERS: dict[str, Callable[..., DirectWire]] = {
    "openai_chat": OpenAICompatible,
    "openai_responses": responses,
    "anthropic": AnthropicCompatible,
    "ollama": Ollama,
}
"""The wires that speak HTTP themselves, as the case tables call them."""


@pytest.fixture
def speak(llm: FakeLLM, http_client: httpx.AsyncClient) -> Callable[..., DirectWire]:
    """Makes a wire of any language to the fake server."""

    def make(language: str, key: str | None = "sk-test-0123456789abcdef", **rest: Any) -> DirectWire:
        return SPEAKERS[language]("local", llm.base_url, key, http_client, **rest)

    return make
