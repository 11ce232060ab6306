"""Fixtures over the doubles; ``tests/conftest.py`` names this module as a plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from app.providers.transport import open_client
from tests.fakes.gateway_client import FakeGateway
from tests.fakes.llm_client import FakeLLM

TRUST = httpx.create_ssl_context()
"""Made once: reading all certificates takes longer than most tests."""


@pytest.fixture(scope="session")
def llm_process() -> Iterator[FakeLLM]:
    with FakeLLM() as server:
        yield server


@pytest.fixture
def llm(llm_process: FakeLLM) -> Iterator[FakeLLM]:
    """The fake model server, fresh; a request that it had to refuse as malformed fails the test."""
    llm_process.reset()
    yield llm_process
    assert llm_process.refusals() == []


@pytest.fixture(scope="session")
def gateway_process() -> Iterator[FakeGateway]:
    with FakeGateway() as server:
        yield server


@pytest.fixture
def gateway(gateway_process: FakeGateway) -> Iterator[FakeGateway]:
    """The fake gateway, fresh; as with ``llm``, no model call may be malformed."""
    gateway_process.reset()
    yield gateway_process
    assert gateway_process.refusals() == []


@pytest.fixture(params=["usual", "behind a proxy"])
async def http_client(request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    """The client of the wires, over either transport it may come with."""
    usual = request.param == "usual"
    async with open_client(TRUST) if usual else httpx.AsyncClient(verify=TRUST) as client:
        yield client
