"""The reading of a web page as a program of its own: whatever the page costs, it costs no other, and can be ended.

Takes one JSON line on standard input, and behind it the HTML in UTF-8. Gives one JSON value.
Knows nothing but the standard library.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from app.hands.duckduckgo_page import found_in
from app.hands.html_text import LEFT_OUT, readable, title_of
from app.hands.html_tree import Element, tree_of
from app.hands.opening_child import limit

MEMORY = 768 * 1024 * 1024
"""Bytes of addresses that the program may have, where the system can limit them."""

LONGEST_TEXT = 4_000_000
LONGEST_TITLE = 500
"""Characters."""


def main() -> None:
    limit(resource.RLIMIT_AS, MEMORY)
    order, _, html = sys.stdin.buffer.read().partition(b"\n")
    page = tree_of(html.decode("utf-8", "replace"))
    sys.stdout.buffer.write(json.dumps(_answer(json.loads(order), page)).encode())


def _answer(order: dict[str, str], page: Element) -> Any:
    if order["wanted"] == "results":
        return found_in(page)
    text, is_part = readable(page, order["url"])
    notes = [LEFT_OUT] if is_part else []
    if len(text) > LONGEST_TEXT:
        notes.append(f"only the first {LONGEST_TEXT:,} characters of its text")
    return {"title": title_of(page)[:LONGEST_TITLE], "text": text[:LONGEST_TEXT], "note": "; ".join(notes)}
