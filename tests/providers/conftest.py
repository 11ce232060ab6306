"""What the tests of the wires share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from app.providers.openai_compatible import OpenAICompatible
from tests.fakes.llm_client import FakeLLM


@pytest.fixture
def wire(llm: FakeLLM, http_client: httpx.AsyncClient) -> Callable[..., OpenAICompatible]:
    """Makes a wire to the fake server; its address, key and limits may be given."""

    def make(
        base_url: str | None = None, key: str | None = "sk-test-0123456789abcdef", **rest: Any
    ) -> OpenAICompatible:
        return OpenAICompatible("local", base_url or llm.base_url, key, http_client, **rest)

    return make
