"""What unit tests and browser stories share: the doubles' fixtures, and asyncio as the only backend."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.fakes.fixtures"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
