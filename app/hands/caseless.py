"""Places of a text in a longer one, upper and lower case alike, in time that grows with the two lengths only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from app.hands.threads import CheckStop

_PIECE = 100_000
"""Characters that are looked at between two looks at the stop."""


def places(
    pattern: str, text: str, check_stop: CheckStop = lambda: None, piece: int = _PIECE
) -> Iterator[int]:
    """Where ``pattern`` begins in ``text``, from the first place on; two of them do not overlap.

    Signs are compared as Unicode folds them: ``STRASSE`` is found in ``Straße``. Offsets are those of the text.
    """
    sought = pattern.casefold()
    free = 0
    for start in range(0, len(text), piece):
        check_stop()
        # Each sign folds to at least one, so what begins in this piece ends within so many signs behind it.
        part = _Folded(text[start : start + piece + len(sought)])
        while (found := part.find(sought, max(free - start, 0))) and found[0] < piece:
            free = start + found[1]
            yield start + found[0]


class _Folded:
    """A text beside its folded form, where some signs have become two or three."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = text.casefold()
        self._is_even = len(self._folded) == len(text)

    def find(self, sought: str, start: int) -> tuple[int, int] | None:
        """The first place at or behind ``start`` and its end, in signs of the text."""
        begin = self._folded.find(sought, start if self._is_even else len(self._text[:start].casefold()))
        return None if begin < 0 else (self._sign(begin), self._sign(begin + len(sought) - 1) + 1)

    def _sign(self, place: int) -> int:
        """Which sign of the text stands at ``place`` of its folded form."""
        if self._is_even:
            return place
        lengths = range(1, len(self._text))
        return bisect_right(lengths, place, key=lambda count: len(self._text[:count].casefold()))
