"""A title from a message: its first line, cut where a reader would cut it."""

from __future__ import annotations

import unicodedata

LONGEST = 60
"""Code points of a title, the ellipsis included."""

_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)


def title_of(text: str) -> str:
    """The first line with something in it, spaces collapsed; empty where there is none."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return shorten(next((line for line in lines if line), ""))


def shorten(line: str, longest: int = LONGEST) -> str:
    """``line`` where it fits; else cut at a space of its second half, or between two whole characters, with "…"."""
    if len(line) <= longest:
        return line
    space = line.rfind(" ", longest // 2, longest)
    end = space if space > 0 else _character_border(line, longest - 1)
    return line[:end].rstrip() + "…"


def _character_border(line: str, end: int) -> int:
    """The last place at or before ``end`` that does not cut what is drawn as one character."""
    while end > 0 and _belongs_together(line, end):
        end -= 1
    return end


def _belongs_together(line: str, at: int) -> bool:
    before, after = line[at - 1], line[at]
    if before == _JOINER or after == _JOINER or unicodedata.category(after) in ("Mn", "Mc", "Me"):
        return True
    if ord(after) in _SKIN_TONES or ord(after) in _TAGS or ord(after) in _HANGUL_VOWELS_AND_FINALS:
        return True
    return ord(after) in _FLAG_LETTERS and _flag_letters_before(line, at) % 2 == 1


def _flag_letters_before(line: str, at: int) -> int:
    count = 0
    while count < at and ord(line[at - 1 - count]) in _FLAG_LETTERS:
        count += 1
    return count
