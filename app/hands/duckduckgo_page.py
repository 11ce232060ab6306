"""The page on which DuckDuckGo lists what it found, for browsers without scripts. Pure.

It is known by how it is built and not by its words, which are those of the pages that were found.
"""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import parse_qs, urljoin, urlsplit

from app.hands.html_tree import Element

ADDRESS = "https://html.duckduckgo.com/html/"


class Hit(TypedDict):
    """One page that was found, in the words of the list."""

    title: str
    url: str
    snippet: str


class Listed(TypedDict):
    """What the page shows."""

    hits: list[Hit]
    is_refusal: bool
    """It asks for proof that a person is searching."""
    is_empty: bool
    """It says that nothing was found."""


def found_in(page: Element) -> Listed:
    """What was found, without advertisements."""
    elements = list(page.elements())
    results = [one for one in elements if one.has_class("result") and not one.has_class("result--ad")]
    return {
        "hits": [hit for one in results if (hit := _hit(one))],
        "is_refusal": any(map(_is_challenge, elements)),
        "is_empty": any(
            one.has_class("no-results") or one.has_class("result--no-result") for one in elements
        ),
    }


def _hit(result: Element) -> Hit | None:
    inside = list(result.elements())
    link = next((one for one in inside if one.tag == "a" and one.has_class("result__a")), None)
    url = _behind(link.attributes.get("href", "")) if link else None
    if link is None or url is None:
        return None
    snippet = next((one for one in inside if one.has_class("result__snippet")), None)
    return {"title": _words(link), "url": url, "snippet": _words(snippet) if snippet else ""}


def _behind(href: str) -> str | None:
    """The address of the page itself; links lead over one of DuckDuckGo's. None for an advertisement."""
    try:
        place = urlsplit(urljoin(ADDRESS, href))
    except ValueError:
        return None
    if not (place.hostname or "").endswith("duckduckgo.com") or not place.path.startswith(("/l/", "/y.js")):
        return place.geturl()
    return next(iter(parse_qs(place.query).get("uddg", [])), None) if place.path.startswith("/l/") else None


def _is_challenge(element: Element) -> bool:
    if element.tag == "form":
        return "/anomaly.js" in element.attributes.get("action", "")
    return element.has_class("anomaly-modal__title")


def _words(element: Element) -> str:
    return " ".join("".join(element.texts()).split())
