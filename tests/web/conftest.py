"""What the tests of the settings share: one page a module, and its models, which each test finds and leaves empty."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.llm_client import FakeLLM
from tests.web.model_settings import KEY, Models
from tests.web.pages import Open, open_page


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Open]:
    """A page where the variable ``KEY_HERE`` holds a key, and ``EMPTY`` a blank."""
    async with open_page(tmp_path_factory.mktemp("settings"), KEY_HERE=f" {KEY}\n", EMPTY=" ") as opened:
        yield opened


@pytest.fixture
async def models(opened: Open, llm: FakeLLM) -> AsyncIterator[Models]:
    """The settings of a Plancia without any source; each test leaves it so."""
    models = Models(opened, llm)
    yield models
    for name in models.names:
        await models.post(f"/{name}/remove")
    assert models.keys == []
