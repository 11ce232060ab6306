"""How HTML that we wrote has grown: what was added, and at the ends of which elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ENDS = re.compile(r"(?:</[a-z0-9]+>\n?)*\Z")
_LONGEST_ENDS = 1_500
_END = re.compile(r"</[a-z0-9]+>\n?")
_TAG = re.compile(r"<(/?)([a-z0-9]+)[^>]*>")
_VOID = {"br", "hr"}


@dataclass(frozen=True, slots=True)
class Growth:
    html: str
    depth: int
    """How many times one goes from the root to the last child to reach the element that it belongs into."""


def growth(old: str, new: str) -> tuple[Growth, ...] | None:
    """The additions, deepest first, that make ``new`` out of ``old``; None where something old changed."""
    match = _ENDS.search(old, max(0, len(old) - _LONGEST_ENDS))
    begin = match.start() if match else len(old)
    ends = [(begin + end.start(), end.group()) for end in _END.finditer(old[begin:])]
    for number, at in enumerate([*(at for at, _ in ends), len(old)]):
        if new.startswith(old[:at]):
            return _additions(new[at:], [text for _, text in ends[number:]])
    return None


def _additions(rest: str, ends: Sequence[str]) -> tuple[Growth, ...] | None:
    """Splits what follows the common beginning at the places where the elements left open in it end."""
    found, begin, inside, left = [], 0, 0, list(ends)
    for match in _TAG.finditer(rest):
        if match.group(2) in _VOID:
            continue
        inside += -1 if match.group(1) else 1
        if inside < 0:
            if not left or not rest.startswith(left[0], match.start()):
                return None
            found.append(Growth(rest[begin : match.start()], len(left)))
            begin, inside = match.start() + len(left.pop(0)), 0
    if left or inside:
        return None
    return tuple(piece for piece in (*found, Growth(rest[begin:], 0)) if piece.html)
