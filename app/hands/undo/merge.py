"""Two changes of one text made into one, line by line; nothing where they meet."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise

MERGED_BYTES = 1024 * 1024
MERGED_LINES = 20_000
"""Above these a text is not merged: comparing takes time that grows with the square."""


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """``base`` with both changes in it; None where they touch each other, or where one side is no plain text.

    Lines end with a line feed and are compared byte for byte, so encodings and line ends stay as they are.
    """
    sides = (base, ours, theirs)
    if any(b"\0" in side or len(side) > MERGED_BYTES for side in sides):
        return None
    lines = [_lines(side) for side in sides]
    if any(len(each) > MERGED_LINES for each in lines):
        return None
    merged = _merge(*lines)
    return None if merged is None else b"".join(merged)


def _lines(text: bytes) -> list[bytes]:
    *whole, last = text.split(b"\n")
    return [line + b"\n" for line in whole] + ([last] if last else [])


def _merge(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes] | None:
    merged: list[bytes] = []
    for before, after in pairwise(((0, 0, 0), *_same(base, ours, theirs))):
        piece = [
            lines[start:end] for lines, start, end in zip((base, ours, theirs), before, after, strict=True)
        ]
        settled = _settle(*piece)
        if settled is None:
            return None
        merged += settled
    return merged


def _settle(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes] | None:
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else None


def _same(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[tuple[int, int, int]]:
    """Places between which each side is looked at by itself: before and behind every line that all three have."""
    in_ours, in_theirs = _matched(base, ours), _matched(base, theirs)
    places = []
    for line in sorted(in_ours.keys() & in_theirs.keys()):
        place = (line, in_ours[line], in_theirs[line])
        places += [place, (place[0] + 1, place[1] + 1, place[2] + 1)]
    return [*places, (len(base), len(ours), len(theirs))]


def _matched(base: list[bytes], other: list[bytes]) -> dict[int, int]:
    """Which line of ``other`` each line of ``base`` has become, for those that stayed."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {a + step: b + step for a, b, size in blocks for step in range(size)}
