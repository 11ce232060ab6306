"""Halves of characters: JSON can spell them, UTF-8 and every wire refuse them.

A model that is cut inside an emoji sends the first half only; kept in a history it would spoil each later request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def clean(text: str) -> str:
    """Without what some server refuses in a string: halves of characters and NUL."""
    text = scrub(text)
    return text.replace("\0", "\ufffd") if "\0" in text else text


def scrub(text: str) -> str:
    """The text with two matching halves made one character and each lone half replaced by U+FFFD."""
    if text.isascii() or not has_half(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def scrub_value(value: Any) -> Any:
    """``scrub`` for every string of a JSON value, keys included."""
    return each_text(value, scrub)


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value in which every string, keys included, is what ``change`` makes of it."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [each_text(one, change) for one in value]
        case dict():
            return {change(key): each_text(one, change) for key, one in value.items()}
        case _:
            return value


def has_half(text: str) -> bool:
    """Whether UTF-8 would refuse the text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class HalfJoiner:
    """Scrubs a text that arrives in pieces: a half at the end of one piece waits for the other in the next."""

    def __init__(self) -> None:
        self._waiting = ""

    def feed(self, piece: str) -> str:
        """The piece without its trailing first half, which is kept for the next one."""
        if self._waiting or not piece.isascii():
            piece = self._waiting + piece
            self._waiting = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
            piece = scrub(piece[:-1] if self._waiting else piece)
        return piece

    def finish(self) -> str:
        """What a half that still waits became."""
        waiting, self._waiting = self._waiting, ""
        return "\ufffd" if waiting else ""
