"""An answer that met its output limit and is written on: what the model says twice at the seam is shown once. Pure."""

from __future__ import annotations

LONGEST_OVERLAP = 600
"""Characters at the end of the first part in which a repetition is looked for."""

LEAST_OVERLAP = 8
"""Letters and digits that a repetition has at least: brackets and blanks are often rightly written again."""

_IDEOGRAPHS = "\u2e80"
"""From here on one sign says about as much as two letters."""


class Seam:
    """Takes the second part in pieces and gives them back without what the first part ends with.

    It holds a piece back only for as long as it could still be a repetition.
    """

    def __init__(self, first: str) -> None:
        self._end = first[-LONGEST_OVERLAP:]
        self._held: str | None = ""

    def feed(self, piece: str) -> str:
        if self._held is None:
            return piece
        self._held += piece
        return "" if self._held in self._end else self.finish()

    def finish(self) -> str:
        """What was held back, once nothing more comes."""
        held, self._held = self._held or "", None
        return held[overlap(self._end, held) :]


def overlap(first: str, second: str) -> int:
    """How many characters at the beginning of ``second`` repeat the end of ``first``; 0 where it may be chance."""
    for length in range(min(len(first), len(second)), 0, -1):
        if first.endswith(second[:length]):
            return length if _weight(second[:length]) >= LEAST_OVERLAP else 0
    return 0


def _weight(text: str) -> int:
    return sum(2 if sign >= _IDEOGRAPHS else 1 for sign in text if sign.isalnum())
