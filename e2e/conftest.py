"""Fixtures of the stories: a Chromium, a live Plancia, and pages that may neither fail nor call elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from e2e.chromium import ARGUMENTS, find_chromium
from e2e.line import Line
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import Watch
from tests.fakes.llm_client import FakeLLM

NewContext = Callable[..., BrowserContext]

expect.set_options(timeout=10_000)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    found = find_chromium()
    return browser_type_launch_args | {"args": ARGUMENTS} | ({"executable_path": found} if found else {})


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return browser_context_args | {"viewport": {"width": 1280, "height": 800}, "locale": "en-US"}


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Fails the story when a page of it failed, broke its policy, or asked another host for anything."""
    watch = Watch()
    yield watch
    assert watch.found == []


@pytest.fixture
def new_context(new_context: NewContext, watch: Watch) -> NewContext:
    """As pytest-playwright's, watched."""

    def make(**options: Any) -> BrowserContext:
        context = new_context(**options)
        watch.over(context)
        return context

    return make


@pytest.fixture(scope="session")
def served(llm_process: FakeLLM, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One Plancia for all stories that need none of their own. Its only model is the fake one."""
    server = Server(tmp_path_factory.mktemp("served"))
    server.settings = with_model(llm_process)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Not started yet, so that a story can choose its models and options; stopped at the end."""
    plancia = Server(tmp_path / "plancia")
    yield plancia
    plancia.stop()


@pytest.fixture
def conversation(served: Server, llm: FakeLLM) -> Iterator[str]:
    """The address of an empty conversation with the fake model. No run of it outlives the story."""
    address = served.new_conversation()
    yield address
    served.post(f"{urlsplit(address).path}/stop")


@pytest.fixture
def talk(conversation: str, page: Page) -> Talk:
    """An empty conversation with the fake model, opened. What is scripted for it is the story's."""
    return Talk(page, conversation).opened()


@pytest.fixture
def second(talk: Talk, new_context: NewContext) -> Talk:
    """The same conversation in another browser, not opened yet."""
    return Talk(new_context().new_page(), talk.address)


@pytest.fixture
def line() -> Iterator[Line]:
    with Line() as line:
        yield line


@pytest.fixture
def distant(conversation: str, line: Line, new_context: NewContext) -> Talk:
    """An empty conversation, opened over a line that can be cut."""
    context = new_context(proxy={"server": line.url, "bypass": "<-loopback>"})
    return Talk(context.new_page(), conversation).opened()


def with_model(llm: FakeLLM) -> dict[str, str]:
    """The environment of a Plancia whose model is the fake one."""
    return {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": llm.base_url, "PLANCIA_MODEL": "openai/fake-model"}
