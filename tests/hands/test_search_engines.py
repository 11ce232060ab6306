"""Search engines with a key or a server of one's own: what each is asked, and how its refusals are told."""

from __future__ import annotations

import json

import pytest

from app.hands.search_engines import Brave, SearchEngine, SearXNG, Tavily
from tests.fakes.web_server import page
from tests.hands.online import search_at

pytestmark = pytest.mark.anyio

KEY = "key-1234567890"

RESULTS = [
    {
        "title": "A <strong>b</strong> &amp; c",
        "url": "https://a.example/",
        "description": "d &lt; <strong>e</strong>",
    },
    {"title": "F", "url": "https://f.example/", "description": None},
]


async def test_brave_is_asked_with_its_key_in_a_header_only() -> None:
    serve = page(json.dumps({"web": {"results": RESULTS}}), "application/json")
    output, request = await search_at(Brave(KEY, "http://brave.example/search"), serve, count=2)
    assert request.query == {"q": "ferry", "count": "2"}
    assert request.headers["x-subscription-token"] == KEY
    assert "1. A b & c\n   https://a.example/\n   d < e\n\n2. F\n   https://f.example/" in output.text
    nothing, _ = await search_at(Brave(KEY, "http://brave.example/search"), page("{}", "application/json"))
    assert "finds nothing" in nothing.text


async def test_tavily_is_asked_by_a_body() -> None:
    listed = [{"title": "A", "url": "https://a.example/", "content": "a < b"}]
    serve = page(json.dumps({"results": listed}), "application/json")
    output, request = await search_at(Tavily(KEY, "http://tavily.example/search"), serve)
    assert json.loads(request.body) == {"query": "ferry", "max_results": 8}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "1. A\n   https://a.example/\n   a < b" in output.text


async def test_a_searxng_server_may_stand_on_this_machine_and_says_how_it_gives_json() -> None:
    listed = [{"title": f"{n}", "url": f"https://a.example/{n}", "content": ""} for n in range(30)]
    service = SearXNG("http://localhost:8888/searx/")
    output, request = await search_at(service, page(json.dumps({"results": listed}), "application/json"))
    assert (request.path, request.query["format"]) == ("/searx/search", "json")
    assert "\n\n8. 7\n" in output.text
    assert "\n\n9. 8\n" not in output.text
    refused, _ = await search_at(service, page("Forbidden", status=403))
    assert refused.error == "E_DENIED"
    assert "search.formats" in refused.text


KEYED = [Brave(KEY, "http://s.example/search"), Tavily(KEY, "http://s.example/search")]


@pytest.mark.parametrize("service", KEYED, ids=["brave", "tavily"])
@pytest.mark.parametrize(
    ("status", "code", "transient", "said"),
    [
        (401, "E_DENIED", False, "does not take its key"),
        (429, "E_FAILED", True, "takes no more searches now"),
        (402, "E_FAILED", True, "its plan is used up"),
        (500, "E_FAILED", True, "cannot search now (HTTP 500 Internal Server Error)"),
        (302, "E_FAILED", False, "cannot search now (HTTP 302 Found)"),
    ],
)
async def test_what_a_keyed_service_refuses_is_told_without_its_key(
    service: SearchEngine, status: int, code: str, transient: bool, said: str
) -> None:
    output, _ = await search_at(service, page(f"bad key {KEY}", status=status, location="http://b.example/"))
    assert (output.error, output.transient) == (code, transient)
    assert said in output.text
    assert KEY not in output.text


@pytest.mark.parametrize(
    "body", ["", "no json", "[]", '{"results": {}, "web": {"results": 1}}', "[" * 100_000]
)
@pytest.mark.parametrize("service", KEYED, ids=["brave", "tavily"])
async def test_an_answer_in_another_form_is_said_as_such(service: SearchEngine, body: str) -> None:
    output, _ = await search_at(service, page(body, "application/json"))
    assert output.error == "E_FAILED"
    assert "not understood" in output.text


@pytest.mark.parametrize("key", ["ke\ny", "kéy", "key\r\nX: y"])
async def test_a_key_that_cannot_be_sent_is_not_quoted(key: str) -> None:
    output, request = await search_at(Brave(key, "http://brave.example/search"), page("{}"))
    assert request is None
    assert output.error == "E_BAD_INPUT"
    assert key not in output.text
