"""What a program writes while it runs, as HTML: its colours become classes, and of much of it the end stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

from app.web.plain import plain_output

KEPT_LINES = 200
KEPT_CHARACTERS = 16_000
"""Of the end of an output; while it grows up to twice as much is shown, so that it is rarely drawn anew."""
LONGEST_LINE = 2_000

_COLOUR = re.compile(r"\x1b\[([0-9;:]*)m")
_HUES = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "")
"""Black and white are the ink of the page: one of them could not be read in each of its two themes."""
_GREY = "grey"

_CODES: Mapping[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"faint": True},
    3: {"italic": True},
    4: {"underlined": True},
    22: {"bold": False, "faint": False},
    23: {"italic": False},
    24: {"underlined": False},
    39: {"hue": ""},
    49: {"ground": ""},
    **{first + number: {"hue": hue} for first in (30, 90) for number, hue in enumerate(_HUES)},
    **{first + number: {"ground": hue} for first in (40, 100) for number, hue in enumerate(_HUES)},
    90: {"hue": _GREY},
    100: {"ground": _GREY},
}
"""What the numbers of a colour sequence change."""


@dataclass(frozen=True, slots=True)
class Style:
    """How the next character looks. A ground of its own has no text of its own colour: it lends it its hue."""

    hue: str = ""
    ground: str = ""
    bold: bool = False
    faint: bool = False
    italic: bool = False
    underlined: bool = False

    @property
    def classes(self) -> str:
        names = (
            ("bold", self.bold or (self.ground and not self.hue)),
            ("faint", self.faint),
            ("italic", self.italic),
            ("underlined", self.underlined),
            (self.hue or self.ground, self.hue or self.ground),
        )
        return " ".join(f"out-{name}" for name, is_set in names if is_set)


_PLAIN = Style()


class Terminal:
    """The end of one output that grows: its lines, and the last one, which has no end yet."""

    def __init__(self, text: str = "") -> None:
        self.open = Markup()
        self.left_out = 0
        """Lines that are not shown any more."""
        self._lines: list[tuple[Markup, int]] = []
        self._size = 0
        self._written = ""
        """The open line as it came."""
        self._style = _PLAIN
        """At its beginning."""
        self.feed(text)

    @property
    def closed(self) -> Markup:
        """The lines that have ended, each with its line feed."""
        return Markup().join(line for line, _ in self._lines)

    @property
    def count(self) -> int:
        """Lines that are shown."""
        return len(self._lines) + bool(self.open)

    def feed(self, text: str) -> Markup | None:
        """Take what came next. Returns the lines that a reader has to add; None where all has to be drawn anew.

        The open line is drawn anew either way.
        """
        *ended, last = (self._written + text).split("\n")
        unseen, shown = ended[: -2 * KEPT_LINES], ended[-2 * KEPT_LINES :]
        self._pass_over(unseen)
        added = [self._ended(line) for line in shown]
        self._written = last[-2 * LONGEST_LINE :] if "\r" in last else last[: 2 * LONGEST_LINE]
        self.open, _, _ = _line(self._written, self._style)
        self._lines += added
        self._size += sum(size for _, size in added)
        if unseen or len(self._lines) > 2 * KEPT_LINES or self._size > 2 * KEPT_CHARACTERS:
            self.trim()
            return None
        return Markup().join(line for line, _ in added)

    def _ended(self, line: str) -> tuple[Markup, int]:
        html, size, self._style = _line(line, self._style)
        return html + "\n", size

    def _pass_over(self, lines: list[str]) -> None:
        """Lines that are gone before they can be shown, and those before them: only their colours are followed."""
        if lines:
            self.left_out += len(lines) + len(self._lines)
            self._lines, self._size = [], 0
        for codes in _COLOUR.findall("\n".join(lines)):
            self._style = _changed(self._style, codes)

    def begin_line_anew(self) -> None:
        """What comes next tells the open line once more, from its beginning."""
        self._written = ""

    def trim(self) -> None:
        """Leave the last lines only."""
        kept = size = 0
        for _, length in reversed(self._lines[-KEPT_LINES:]):
            size += length
            if size > KEPT_CHARACTERS:
                break
            kept += 1
        dropped = len(self._lines) - kept
        self.left_out += dropped
        del self._lines[:dropped]
        self._size = sum(length for _, length in self._lines)


def _line(written: str, style: Style) -> tuple[Markup, int, Style]:
    """The HTML of a line, how many characters it shows, and how the next one begins."""
    written = written.rstrip("\r").rpartition("\r")[2]
    if "\x1b" not in written and style is _PLAIN:
        shown = plain_output(written)[:LONGEST_LINE]
        return escape(shown), len(shown), style
    html, size = [], 0
    for number, part in enumerate(_COLOUR.split(written)):
        if number % 2:
            style = _changed(style, part)
        elif shown := plain_output(part)[: LONGEST_LINE - size]:
            size += len(shown)
            classes = style.classes
            html.append(
                Markup('<span class="{}">{}</span>').format(classes, shown) if classes else escape(shown)
            )
    return Markup().join(html), size, style


def _changed(style: Style, codes: str) -> Style:
    """After one sequence: numbers with semicolons between them, an empty one is 0."""
    numbers = (int(code[:4] or 0) for code in codes.replace(":", ";").split(";"))
    for code in numbers:
        style = _with_code(style, code, numbers)
    return _PLAIN if style == _PLAIN else style


def _with_code(style: Style, code: int, rest: Iterator[int]) -> Style:
    match code:
        case 0:
            return _PLAIN
        case 38:
            return replace(style, hue=_of_many(rest))
        case 48:
            return replace(style, ground=_of_many(rest))
        case _:
            return replace(style, **_CODES.get(code, {}))


def _of_many(rest: Iterator[int]) -> str:
    """One of 256 colours (5, number) or of all (2, red, green, blue), as the nearest of ours."""
    match next(rest, 0):
        case 5:
            return _of_256(next(rest, 0))
        case 2:
            return _nearest([next(rest, 0) for _ in range(3)])
        case _:
            return ""


def _of_256(number: int) -> str:
    if number < 16:
        return _GREY if number == 8 else _HUES[number % 8]
    if number >= 232:
        return _GREY if number < 250 else ""
    return _nearest([(number - 16) // step % 6 * 51 for step in (36, 6, 1)])


def _nearest(channels: Iterable[int]) -> str:
    """By which of red, green and blue are strong: bit 0 to 2, as in the numbers of the eight colours."""
    red, green, blue = channels
    low, high = min(red, green, blue), max(red, green, blue)
    if high - low < 40:
        return _GREY if 60 < high < 190 else ""
    middle = (low + high) / 2
    return _HUES[(red > middle) + 2 * (green > middle) + 4 * (blue > middle)]
