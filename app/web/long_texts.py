"""A text too long for a page, as a model that runs away writes it: its beginning and its end are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from app.web.plain import plain
from app.web.times import amount

LONGEST = 200_000
"""Characters that are drawn of a text; what comes after is not drawn while the text grows."""
ENDING = 20_000
"""Characters that are drawn of the end of a longer one."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What a page says in the place of the rest of a text, and where all of it is."""

    left_out: str
    """How many characters, ``61M``; nothing where it is still growing."""
    ending: str
    href: str


def beginning(text: str) -> str:
    """As much of a text as is drawn before its rest; all of one that is short enough."""
    return text[:LONGEST] if is_long(text) else text


def rest_of(text: str, href: str) -> Rest | None:
    """What follows the beginning; None for a text that is drawn whole."""
    if not is_long(text):
        return None
    return Rest(amount(len(text) - LONGEST - ENDING), plain(text[-ENDING:]), href)


def is_long(text: str) -> bool:
    return len(text) > LONGEST + ENDING


def shortened(text: str) -> str:
    """Beginning and end of a plain text, with a line between them."""
    rest = rest_of(text, "")
    if rest is None:
        return plain(text)
    return f"{plain(beginning(text))}\n\n… {rest.left_out} characters left out …\n\n{rest.ending}"
