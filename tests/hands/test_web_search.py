"""web_search: what stands in its answer, and what who has to allow it is shown."""

from __future__ import annotations

import json

import pytest

from app.hands.search_engines import Brave, SearXNG, Tavily
from app.hands.web import web_tools
from app.hands.web_search import searched_address
from tests.fakes.web_server import page, serving
from tests.hands.online import call, search_at

pytestmark = pytest.mark.anyio

KEY = "key-1234567890"


async def test_an_empty_query_is_not_sent() -> None:
    output, request = await search_at(Brave(KEY), page("{}"), " \n ")
    assert (output.error, request) == ("E_BAD_INPUT", None)


async def test_words_of_a_result_are_short_and_hide_nothing() -> None:
    listed = [{"title": "a\u202eb\n" * 500, "url": "https://a.example/", "content": "c\U000e0041d " * 1_000}]
    serve = page(json.dumps({"results": listed}), "application/json")
    output, _ = await search_at(Tavily(KEY, "http://tavily.example/search"), serve)
    assert len(output.text) < 1_200
    assert "ab ab" in output.text
    assert "cd cd" in output.text


def test_who_has_to_allow_it_sees_where_a_search_goes_and_no_key() -> None:
    address = searched_address(Brave(KEY), {"query": "ferry times", "count": 3})
    assert str(address) == "https://api.search.brave.com/res/v1/web/search?q=ferry+times&count=3"
    assert address.host == "api.search.brave.com"
    assert KEY not in repr(Brave(KEY)) + repr(Tavily(KEY))


def test_both_tools_look_only_and_take_no_unknown_arguments() -> None:
    tools = web_tools()
    assert list(tools) == ["web_fetch", "web_search"]
    assert all(tool.read_only and tool.parameters["additionalProperties"] is False for tool in tools.values())
    assert "DuckDuckGo" in tools["web_search"].description
    assert "SearXNG" in web_tools(SearXNG("http://localhost:8888"))["web_search"].description


async def test_the_tools_as_they_are_given_out_reach_a_server_of_the_user_and_fetch_nothing_there() -> None:
    listed = {"results": [{"title": "A", "url": "https://a.example/", "content": "b"}]}
    pages = {"/search": page(json.dumps(listed), "application/json"), "/": page("<p>private")}
    async with serving(pages) as website:
        local = f"http://localhost:{website.port}"
        tools = web_tools(SearXNG(local))
        found = await call(tools["web_search"], query="ferry")
        refused = [
            await call(tools["web_fetch"], url=url)
            for url in (f"{local}/", f"http://127.0.0.1:{website.port}/")
        ]
    assert "https://a.example/" in found.text
    assert [output.error for output in refused] == ["E_DENIED", "E_DENIED"]
    assert [request.path for request in website.requests] == ["/search"]
