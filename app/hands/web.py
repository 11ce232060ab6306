"""The tools that reach the web, by name."""

from __future__ import annotations

from app.engine.tools import Tool
from app.hands.pages import read_page
from app.hands.search_engines import DuckDuckGo, SearchEngine, SearXNG
from app.hands.web_fetch import Fetch, fetch_tool
from app.hands.web_search import WebSearch, search_tool
from app.hands.web_wire import owner_for_pages, owner_for_services, straight_wire


def web_tools(service: SearchEngine | None = None, *, has_proxy: bool = False) -> dict[str, Tool]:
    """``web_fetch`` and ``web_search``; without a service the search is DuckDuckGo's.

    ``has_proxy`` says that the environment names a proxy, so that a failure can say it is not used.
    """
    service = service or DuckDuckGo()
    pages = straight_wire(owner_for_pages, has_proxy=has_proxy)
    own = straight_wire(owner_for_services, has_proxy=has_proxy)
    search = WebSearch(own if isinstance(service, SearXNG) else pages, service)
    return {tool.name: tool for tool in (fetch_tool(Fetch(pages, read_page)), search_tool(search))}
