"""What a first visit costs: few requests, few bytes, all from this server."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Request, expect

from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM

MOST_BYTES = 120_000
MOST_REQUESTS = 10


def test_a_first_visit_is_small(
    conversation: str, llm: FakeLLM, context: BrowserContext, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[Request] = []
    ended: list[Request] = []
    page = context.new_page()
    page.on("request", lambda request: begun.append(request))
    page.on("requestfinished", lambda request: ended.append(request))
    talk = Talk(page, conversation).opened()
    expect(talk.box).to_be_focused()
    sizes = [request.sizes() for request in ended]
    carried = sum(size["responseHeadersSize"] + size["responseBodySize"] for size in sizes)
    with capsys.disabled():
        print(f"\nfirst load: {carried / 1000:.0f} kB in {len(begun)} requests")
    assert len(begun) <= MOST_REQUESTS
    assert 0 < carried <= MOST_BYTES
