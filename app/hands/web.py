"""The tools that reach the web, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from app.engine.tools import Tool
from app.hands.pages import read_page
from app.hands.search_engines import DuckDuckGo, SearchEngine, SearXNG
from app.hands.tool import Arguments
from app.hands.web_address import WebAddress
from app.hands.web_ask import Ask, as_everywhere
from app.hands.web_fetch import Fetch, fetch_tool, fetched_address
from app.hands.web_search import WebSearch, search_tool, searched_address
from app.hands.web_wire import owner_for_engines, owner_for_pages, straight_wire


def web_tools(
    engine: SearchEngine | None = None, *, ask: Ask = as_everywhere, has_proxy: bool = False
) -> dict[str, Tool]:
    """``web_fetch`` and ``web_search``; without an engine the search is DuckDuckGo's.

    ``has_proxy`` says that the environment names a proxy, so that a failure can say it is not used.
    """
    engine = engine or DuckDuckGo()
    pages = straight_wire(owner_for_pages, has_proxy=has_proxy)
    own = straight_wire(owner_for_engines, has_proxy=has_proxy)
    search = WebSearch(own if isinstance(engine, SearXNG) else pages, engine, ask)
    return {tool.name: tool for tool in (fetch_tool(Fetch(pages, read_page, ask)), search_tool(search))}


def web_addresses(engine: SearchEngine | None = None) -> Mapping[str, Callable[[Arguments], WebAddress]]:
    """Where a call of each tool would go, without going. Each raises ``Refused`` where that is nowhere."""
    return {
        "web_fetch": fetched_address,
        "web_search": partial(searched_address, engine or DuckDuckGo()),
    }
