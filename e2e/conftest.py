"""Fixtures of the stories: a Chromium, a live Plancia, and a page that may neither fail nor call elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page

from e2e.chromium import ARGUMENTS, find_chromium
from e2e.server import Server


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    found = find_chromium()
    return browser_type_launch_args | {"args": ARGUMENTS} | ({"executable_path": found} if found else {})


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return browser_context_args | {"viewport": {"width": 1280, "height": 800}, "locale": "en-US"}


@pytest.fixture
def context(context: BrowserContext) -> Iterator[BrowserContext]:
    """Fails the story when a script of the page failed or anything was asked of another host."""
    elsewhere: list[str] = []
    failures: list[str] = []

    def note(address: str) -> None:
        if urlsplit(address).scheme in {"http", "https", "ws"} and urlsplit(address).hostname != "127.0.0.1":
            elsewhere.append(address)

    context.on("request", lambda request: note(request.url))
    context.on("weberror", lambda failure: failures.append(str(failure.error)))
    yield context
    assert not elsewhere, "The page asked another host for something."
    assert not failures, "A script of the page failed."


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Not started yet, so that a story can choose its models and options; stopped at the end."""
    plancia = Server(tmp_path / "plancia")
    yield plancia
    plancia.stop()


@pytest.fixture
def plancia(server: Server, page: Page) -> Page:
    """A fresh Plancia with nothing configured, opened and logged in."""
    page.goto(server.start())
    return page
