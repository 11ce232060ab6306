"""Web pages as text, read by a program of its own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from app.hands.children import answer_of, of_ours
from app.hands.errors import Refused
from app.hands.limits import PAGE_SECONDS, WEB_BYTES

_ANSWER_BYTES = 4 * WEB_BYTES
"""More than the text of a page can be, with its links made whole."""


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page, as Markdown."""

    title: str
    text: str
    note: str = ""
    """What was left out of it, in words."""


ReadPage = Callable[[str, str], Awaitable[Page]]
"""``read_page(html, url)``. Raises ``Refused``."""


async def read_page(html: str, url: str) -> Page:
    """See ``ReadPage``."""
    match await ask_page({"wanted": "page", "url": url}, html):
        case {"title": str(title), "text": str(text), "note": str(note)}:
            return Page(title, text, note)
        case _:
            raise _unreadable()


async def ask_page(order: dict[str, str], html: str, seconds: float = PAGE_SECONDS) -> Any:
    """What the program answers about a page. Raises ``Refused`` where it breaks off or takes too long."""
    told = json.dumps(order).encode() + b"\n" + html.encode("utf-8", "replace")
    try:
        with anyio.fail_after(seconds):
            answer = await answer_of(of_ours("app.hands.page_child"), told, _ANSWER_BYTES)
    except TimeoutError:
        raise _unreadable() from None
    except OSError as error:
        raise Refused(
            "E_FAILED", f"The page could not be read: {error}. Try again later.", transient=True
        ) from error
    try:
        return json.loads(answer or b"")
    except ValueError:
        raise _unreadable() from None


def _unreadable() -> Refused:
    return Refused("E_FAILED", "The page is built so that it takes too much to read it. Use another source.")
