"""Who searches the web: the question each engine is asked, and what its answer says. One class an engine.

DuckDuckGo needs no key and promises nothing: it is its page for browsers, and it turns programs away when it likes. The
others are asked the way their makers describe, with the user's key or at the user's own server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from app.hands.duckduckgo_page import ADDRESS, Hit
from app.hands.errors import Refused
from app.hands.html_tree import tree_of
from app.hands.pages import ask_page
from app.hands.web_address import web_address
from app.hands.web_text import decoded
from app.hands.web_wire import Answer, Asked

CHOICES = "Brave, Tavily or a SearXNG server"
_JSON = {"Accept": "application/json"}


class SearchEngine(Protocol):
    """One engine. A key never leaves in an address, and stands in no representation."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    def question(self, query: str, count: int) -> Asked:
        """What is sent, and where."""
        ...

    async def hits(self, answer: Answer) -> Sequence[Hit]:
        """What was found. Raises ``Refused`` where the answer is none."""
        ...


@dataclass(frozen=True, slots=True)
class DuckDuckGo:
    """Without a key."""

    url: str = ADDRESS
    name: str = "DuckDuckGo"

    def question(self, query: str, count: int) -> Asked:
        """See ``SearchEngine``; how many it lists is its own choice."""
        place = web_address(f"{self.url}?{urlencode({'q': query})}")
        return Asked(place, headers={"Accept": "text/html", "Accept-Language": "*"})

    async def hits(self, answer: Answer) -> Sequence[Hit]:
        """See ``SearchEngine``."""
        if answer.status in (403, 418, 429):
            raise self._turned_away()
        _expect_success(self.name, answer)
        match await ask_page({"wanted": "results"}, decoded(answer.headers, answer.body, is_html=True)):
            case {"hits": [_, *_] as hits}:
                return [Hit(title=hit["title"], url=hit["url"], snippet=hit["snippet"]) for hit in hits]
            case {"is_refusal": True}:
                raise self._turned_away()
            case {"is_empty": True}:
                return []
            case _:
                raise _not_understood(self.name)

    def _turned_away(self) -> Refused:
        return Refused(
            "E_DENIED",
            "DuckDuckGo did not answer: it asks for proof that a person is searching, and longer if it is asked "
            "again soon. Fetch a page whose address you know, or ask the user to set up another search engine "
            f"({CHOICES}).",
            transient=True,
        )


@dataclass(frozen=True, slots=True)
class Brave:
    """Brave's Search API."""

    key: str = field(repr=False)
    url: str = "https://api.search.brave.com/res/v1/web/search"
    name: str = "Brave"

    def question(self, query: str, count: int) -> Asked:
        """See ``SearchEngine``."""
        place = web_address(f"{self.url}?{urlencode({'q': query, 'count': count})}")
        return Asked(place, headers={**_JSON, "X-Subscription-Token": self.key})

    async def hits(self, answer: Answer) -> Sequence[Hit]:
        """See ``SearchEngine``."""
        value = _json_of(self.name, answer)
        web = value.get("web")
        listed = web.get("results") if isinstance(web, Mapping) else []
        return _hits(self.name, listed, snippet="description", words=_without_marks)


@dataclass(frozen=True, slots=True)
class Tavily:
    """Tavily's search for agents."""

    key: str = field(repr=False)
    url: str = "https://api.tavily.com/search"
    name: str = "Tavily"

    def question(self, query: str, count: int) -> Asked:
        """See ``SearchEngine``."""
        body = json.dumps({"query": query, "max_results": count}).encode()
        headers = {**_JSON, "Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        return Asked(web_address(self.url), "POST", headers, body)

    async def hits(self, answer: Answer) -> Sequence[Hit]:
        """See ``SearchEngine``."""
        return _hits(self.name, _json_of(self.name, answer).get("results"), snippet="content")


@dataclass(frozen=True, slots=True)
class SearXNG:
    """A SearXNG server at an address that the user entered, which may be on this machine."""

    url: str
    name: str = "SearXNG"

    def question(self, query: str, count: int) -> Asked:
        """See ``SearchEngine``; how many it lists is its own choice."""
        words = urlencode({"q": query, "format": "json"})
        return Asked(web_address(f"{self.url.rstrip('/')}/search?{words}"), headers=_JSON)

    async def hits(self, answer: Answer) -> Sequence[Hit]:
        """See ``SearchEngine``."""
        if answer.status == 403:
            raise Refused(
                "E_DENIED",
                f"The SearXNG server at {answer.address.authority} gives no JSON. Ask the user to add json to "
                "search.formats in its settings.yml.",
            )
        return _hits(self.name, _json_of(self.name, answer).get("results"), snippet="content")


@dataclass(frozen=True, slots=True)
class NotReady:
    """An engine that was chosen and lacks something. It asks nobody, and no other one in its place."""

    name: str
    why: str
    """A sentence."""
    way_out: str
    """What the user can do, as it goes on after ``Ask the user to``."""

    def question(self, query: str, count: int) -> Asked:
        """Raises ``Refused``."""
        raise Refused("E_DENIED", f"{self.why} Ask the user to {self.way_out}.")

    async def hits(self, answer: Answer) -> Sequence[Hit]:
        """See ``SearchEngine``; there is no answer to a question that was not asked."""
        return []


def _expect_success(name: str, answer: Answer) -> None:
    """Raises ``Refused`` for an answer that says it is none."""
    status = answer.status
    if 200 <= status < 300:
        return
    if status in (401, 403):
        raise Refused(
            "E_DENIED", f"{name} does not take its key ({answer.status_line}). Ask the user to enter it anew."
        )
    if status in (402, 429, 432, 433):
        raise Refused(
            "E_FAILED",
            f"{name} takes no more searches now ({answer.status_line}): too many, or its plan is used up. Try again "
            "later, or ask the user to look at the plan.",
            transient=True,
        )
    raise Refused(
        "E_FAILED",
        f"{name} cannot search now ({answer.status_line}). Try again later.",
        transient=status >= 500,
    )


def _json_of(name: str, answer: Answer) -> Mapping[str, Any]:
    _expect_success(name, answer)
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise _not_understood(name) from None
    if not isinstance(value, dict):
        raise _not_understood(name)
    return value


def _hits(name: str, listed: Any, snippet: str, words: Callable[[str], str] = str) -> list[Hit]:
    """The usable ones of a list of objects with ``title``, ``url`` and a snippet."""
    if not isinstance(listed, list):
        raise _not_understood(name)
    return [
        Hit(title=words(_text(one, "title")), url=_text(one, "url"), snippet=words(_text(one, snippet)))
        for one in listed
        if isinstance(one, dict)
    ]


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _without_marks(words: str) -> str:
    """Brave marks what was searched for with elements."""
    return "".join(tree_of(words[:4_000]).texts()) if "<" in words or "&" in words else words


def _not_understood(name: str) -> Refused:
    return Refused(
        "E_FAILED",
        f"{name} answered in a form that is not understood here; it may have changed. Fetch a page whose address you "
        "know, or ask the user for another search engine.",
    )
