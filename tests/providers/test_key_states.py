"""What becomes of the account behind a key, in the words of each wire's providers, is told apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.providers.direct import DirectWire
from tests.fakes.llm_client import FakeLLM
from tests.providers.answers import collect
from tests.providers.conftest import SPEAKERS

pytestmark = pytest.mark.anyio

KINDS = {"bad": "auth", "broke": "balance", "limited:7": "rate_limit", "expired": "subscription"}


@pytest.mark.parametrize("state", KINDS)
@pytest.mark.parametrize("language", SPEAKERS)
async def test_each_state_is_a_kind_of_its_own(
    language: str, state: str, llm: FakeLLM, speak: Callable[..., DirectWire]
) -> None:
    llm.knows(keys={"sk-0123456789": state})
    error = (await collect(speak(language, key="sk-0123456789"))).error
    assert error is not None
    assert (error.kind, error.retry_after) == (KINDS[state], 7 if state == "limited:7" else None)
    assert "sk-0123456789" not in error.message
