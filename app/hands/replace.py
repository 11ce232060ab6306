"""Old text for new in a file: exactly, else with blanks at the ends of lines forgiven. Pure.

Matching ignores how lines end; what is written keeps the line ends of the place it is written to.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, zip_longest
from typing import Literal

from app.hands.errors import Refused
from app.hands.text import printable

Match = Literal["exact", "relaxed"]

_BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Replaced:
    """The text afterwards, how it was found and how often, and the line (from 1) of the first change."""

    text: str
    match: Match
    count: int
    line: int


def replace(text: str, old: str, new: str, *, everywhere: bool = False) -> Replaced:
    """Put ``new`` where ``old`` stands. Raises ``Refused`` unless there is one such place, or all are wanted."""
    old, new = _plain(old), _plain(new)
    if not old:
        raise Refused(
            "E_BAD_INPUT", "old_string is empty. Quote the text that is to be replaced, or use write_file."
        )
    if old == new:
        raise Refused(
            "E_BAD_INPUT", "old_string and new_string are the same. Say what should stand there instead."
        )
    body = _Body(text)
    spans, match = _find(body.plain, old, everywhere)
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        piece, start, end = body.fitted(new, start, end)
        pieces += (text[at:start], piece)
        at = end
    line = body.plain.count("\n", 0, spans[0][0]) + 1
    return Replaced("".join((*pieces, text[at:])), match, len(spans), line)


class _Body:
    """A text with its line ends made equal, and the way back to what stands in the file."""

    def __init__(self, text: str) -> None:
        self.plain = _plain(text)
        self._pairs = list(_pairs(text)) if len(self.plain) < len(text) else []

    def fitted(self, new: str, start: int, end: int) -> tuple[str, int, int]:
        """What to put into the file for ``plain[start:end]``, and from where to where there.

        Only what differs is touched, so that unequal line ends around a change stay as they are.
        """
        if not self._pairs:
            return new, start, end
        old = self.plain[start:end]
        head = _shared(old, new)
        tail = _shared(old[head:][::-1], new[head:][::-1])
        start, end = start + head, end - tail
        return self._dressed(new[head : len(new) - tail], start, end), self._raw(start), self._raw(end)

    def _dressed(self, new: str, start: int, end: int) -> str:
        """``new`` with the line ends of what it replaces, one by one, then with those of its surroundings."""
        here = [self._end_at(at) for at in _positions(self.plain, "\n", start, end)]
        last = here[-1] if here else self._end_near(end)
        first, *lines = new.split("\n")
        return first + "".join(
            f"{ending}{line}" for ending, line in zip_longest(here[: len(lines)], lines, fillvalue=last)
        )

    def _raw(self, position: int) -> int:
        return position + bisect_left(self._pairs, position)

    def _end_at(self, position: int) -> str:
        at = bisect_left(self._pairs, position)
        return "\r\n" if at < len(self._pairs) and self._pairs[at] == position else "\n"

    def _end_near(self, position: int) -> str:
        after = self.plain.find("\n", position)
        return self._end_at(after if after >= 0 else self.plain.rfind("\n", 0, position))


def _find(plain: str, old: str, everywhere: bool) -> tuple[list[tuple[int, int]], Match]:
    first = plain.find(old)
    if first < 0:
        return [_relaxed(plain, old)], "relaxed"
    if everywhere:
        return [(at, at + len(old)) for at in _positions(plain, old)], "exact"
    second = plain.find(old, first + 1)
    if second >= 0:
        raise _many(plain, _positions(plain, old), max(2, plain.count(old)))
    return [(first, first + len(old))], "exact"


def _relaxed(plain: str, old: str) -> tuple[int, int]:
    """The one place that differs from ``old`` only in blanks before line ends. Linear in both."""
    lines, wanted = plain.split("\n"), _bare(old)
    bare_lines = [line.rstrip(_BLANKS) for line in lines]
    # Blanks at the very end of ``old`` are forgiven only where a line ends, too.
    at_line_end = old[-1] in _BLANKS
    found = list(islice(_places("\n".join(bare_lines), wanted, at_line_end), 2)) if wanted.strip() else []
    if not found:
        raise _none(lines, wanted)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    bare_starts = list(accumulate((len(line) + 1 for line in bare_lines), initial=0))

    def back(position: int) -> int:
        line = bisect_right(bare_starts, position) - 1
        return starts[line] + position - bare_starts[line]

    if len(found) > 1:
        raise _many(plain, map(back, found), 2)
    start, end = back(found[0]), back(found[0] + len(wanted))
    return start, (plain + "\n").index("\n", end) if at_line_end else end


def _places(text: str, wanted: str, at_line_end: bool) -> Iterator[int]:
    """Where ``wanted`` stands, overlaps too; with ``at_line_end`` only where a line ends behind it."""
    at = text.find(wanted)
    while at >= 0:
        if not at_line_end or text[at + len(wanted) : at + len(wanted) + 1] in ("", "\n"):
            yield at
        at = text.find(wanted, at + 1)


def _positions(text: str, wanted: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    at = text.find(wanted, start, end)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted), end)


def _shared(one: str, other: str) -> int:
    """How many signs both begin with."""
    differs = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differs, min(len(one), len(other)))


def _pairs(text: str) -> Iterator[int]:
    """Where, in the text with equal line ends, those stand that were carriage return and line feed."""
    return (at - before for before, at in enumerate(_positions(text, "\r\n")))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _bare(text: str) -> str:
    return "\n".join(line.rstrip(_BLANKS) for line in text.split("\n"))


def _many(plain: str, places: Iterable[int], count: int) -> Refused:
    lines = [str(plain.count("\n", 0, at) + 1) for at in islice(places, 5)]
    return Refused(
        "E_MULTIPLE_MATCHES",
        f"old_string stands in {count} places (lines {', '.join(lines)}{', …' if count > len(lines) else ''}). "
        "Quote more of the text around the one you mean, or set replace_all.",
    )


def _none(lines: list[str], wanted: str) -> Refused:
    """Says where something like it stands: blanks and case are what is mostly mistaken."""
    near = find_like(lines, wanted)
    if near is None:
        return Refused("E_NO_MATCH", "old_string does not stand in the file. Read it and quote it exactly.")
    shown = printable("\n".join(lines[near - 1 : near - 1 + min(12, wanted.count("\n") + 1)]))[:1000]
    return Refused(
        "E_NO_MATCH",
        f"old_string does not stand in the file. Line {near} is like it but differs in blanks or letters:\n{shown}\n"
        "Quote it exactly as it stands there, indentation included.",
    )


def find_like(lines: list[str], wanted: str) -> int | None:
    """The first line, from 1, that says the same as the first one of ``wanted`` but for blanks and case."""
    first = _gist(next((line for line in wanted.split("\n") if line.strip()), ""))
    return next((number for number, line in enumerate(lines, 1) if first and _gist(line) == first), None)


def _gist(line: str) -> str:
    return "".join(line.split()).casefold()
