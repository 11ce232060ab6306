"""``web_search``: what a search engine found, as titles, addresses and snippets, framed as what others wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from app.engine.tools import Tool, ToolContext
from app.hands.duckduckgo_page import Hit
from app.hands.errors import Refused
from app.hands.limits import FOUND_PAGES, FOUND_PAGES_MOST, WEB_BYTES, WEB_SECONDS
from app.hands.search_engines import SearchEngine
from app.hands.tool import Arguments, HandTool, schema
from app.hands.web_address import WebAddress, web_address
from app.hands.web_ask import Ask, Visa, as_everywhere
from app.hands.web_frame import framed
from app.hands.web_text import seen
from app.hands.web_wire import Wire

_TITLE = 200
_SNIPPET = 500
"""Characters of one result."""


@dataclass(frozen=True, slots=True)
class WebSearch:
    """The searches of one run, all at one engine: a question goes to nobody else when it fails."""

    wire: Wire
    engine: SearchEngine
    ask: Ask = as_everywhere
    seconds: float = WEB_SECONDS

    async def run(self, arguments: Arguments, context: ToolContext) -> str:
        """The work of ``web_search``."""
        query, count = _asked(arguments)
        try:
            with anyio.fail_after(self.seconds) as time:
                question = self.engine.question(query, count)
                await Visa(self.ask, context, time).get(question.address)
                answer = await self.wire.send(question, WEB_BYTES)
                hits = await self.engine.hits(answer)
        except TimeoutError:
            raise Refused(
                "E_TIMEOUT",
                f"{self.engine.name} had not answered after {self.seconds:g} s. Try again later.",
                transient=True,
            ) from None
        usable = list(_usable(hits))[:count]
        if not usable:
            return f"[{self.engine.name} finds nothing for {query!r}. Try other words.]"
        listed = "\n\n".join(_line(place, hit) for place, hit in enumerate(usable, 1))
        return framed(f"{self.engine.name} finds for {query!r}", listed)


def search_tool(search: WebSearch) -> Tool:
    """``web_search`` for the model."""
    return HandTool(
        "web_search",
        f"Search the web with {search.engine.name}: titles, addresses and snippets. Read a page with web_fetch. The "
        " question leaves this machine: put nothing private into it.",
        schema(
            {"query": {"type": "string", "minLength": 1, "maxLength": 400}},
            {
                "count": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": FOUND_PAGES_MOST,
                    "description": f"default {FOUND_PAGES}",
                }
            },
        ),
        True,
        search.run,
    )


def searched_address(engine: SearchEngine, arguments: Arguments) -> WebAddress:
    """Where a call of ``web_search`` would go, for who has to allow it."""
    return engine.question(*_asked(arguments)).address


def _asked(arguments: Arguments) -> tuple[str, int]:
    query = " ".join(arguments["query"].split())
    if not query:
        raise Refused("E_BAD_INPUT", "The query is empty. Write what to look for.")
    return query, arguments.get("count", FOUND_PAGES)


def _usable(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Those with an address that can be fetched, each once."""
    by_address: dict[str, Hit] = {}
    for hit in hits:
        try:
            by_address.setdefault(str(web_address(hit["url"])), hit)
        except Refused:
            continue
    return [Hit(title=hit["title"], url=url, snippet=hit["snippet"]) for url, hit in by_address.items()]


def _line(place: int, hit: Hit) -> str:
    title, snippet = _short(hit["title"], _TITLE) or "(no title)", _short(hit["snippet"], _SNIPPET)
    return f"{place}. {title}\n   {hit['url']}" + (f"\n   {snippet}" if snippet else "")


def _short(text: str, most: int) -> str:
    text = " ".join(seen(text).split())
    return text if len(text) <= most else f"{text[:most]}…"
