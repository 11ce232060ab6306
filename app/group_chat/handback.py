"""The marker by which a member gives the floor back in its text, where it does not call ``hand_back``.

It counts only alone on the last line, outside code and quotations: a member that explains the protocol keeps the
floor. What is almost a marker is text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from app.group_chat.asides import asides

MARKER = "<handback />"
"""As members are told to write it."""

LONGEST = 80
"""Characters of a line that may be a marker, blanks included; a longer one is text, and is shown as it grows."""

_MARKER = re.compile(r" {0,3}<handback[ \t]*(?:/>|>[ \t]*</handback[ \t]*>)", re.IGNORECASE | re.ASCII)
_WITHOUT_BLANKS = ("<handback/>", "<handback></handback>")
_BLANKS = re.compile(r"\s+")


class Handback(NamedTuple):
    """Whether the floor goes back, and the text as the chat shows it: without the marker that counted."""

    is_handback: bool
    shown: str


def read_handback(text: str) -> Handback:
    """Read the whole last text of a turn. Only for a member that holds the floor, see ``floor.hear``."""
    first, line = _last_line(text)
    if not _MARKER.fullmatch(line) or _is_aside(text, first + len(line) - 1):
        return Handback(False, text)
    return Handback(True, text[:first].rstrip())


def safe_length(text: str) -> int:
    """How many characters of a text that is still growing may be shown, so that no marker flashes up.

    A last line that is a marker, or may yet become one, waits. Whatever follows, what was shown stays right, but
    for blanks at its end; when the text has ended, ``read_handback`` says what is shown of it.
    """
    first, line = _last_line(text)
    begun = _BLANKS.sub("", line).lower()
    return first if begun and any(marker.startswith(begun) for marker in _WITHOUT_BLANKS) else len(text)


def _last_line(text: str) -> tuple[int, str]:
    """Where the last line with anything on it begins, and the line; nothing for one that is too long."""
    said = text.rstrip()
    first = max(said.rfind("\n"), said.rfind("\r")) + 1
    return first, said[first:] if len(said) - first <= LONGEST else ""


def _is_aside(text: str, position: int) -> bool:
    return any(first <= position < end for first, end in asides(text))
