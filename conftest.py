"""What unit tests and browser stories share: the doubles' fixtures, and asyncio as the only backend."""

from __future__ import annotations

import os

import pytest

# The keyring of the person who runs the tests is not ours.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

pytest_plugins = ["tests.fakes.fixtures"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=3, help="how often each story of a crash kills the server")
    parser.addoption("--lives", type=int, default=12, help="how many random lives of a session are lived")
    parser.addoption("--rooms", type=int, default=40, help="how many random lives of a team are lived")
    parser.addoption("--room", type=int, default=None, help="the one random life of a team that is lived")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
