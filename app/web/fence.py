"""A fence of code that is still open: text is only added to it until a line closes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from app.web.markdown import clean, read_blocks

_START = re.compile(r"( {0,3})(`{3,}|~{3,})[^\n]*\n")
_END = "</code></pre></div>\n"


@dataclass(slots=True)
class OpenFence:
    """The code shown so far, and the last line, which may yet turn out to be the one that closes it."""

    start: str
    indent: int
    """Blanks before the fence; each line loses as many of its own."""
    mark: str
    code: str = ""
    line: str = ""
    shown: int = 0
    """Characters of the last line that are in ``code`` already."""

    @classmethod
    def at(cls, text: str) -> OpenFence | None:
        """The fence that begins the text, once its first line is complete."""
        if (match := _START.match(text)) is None:
            return None
        empty = "".join(block.html for block in read_blocks(match.group()))
        fence = cls(clean(empty).removesuffix(_END), len(match.group(1)), match.group(2))
        fence.add(text[match.end() :])
        return fence

    @property
    def html(self) -> Markup:
        return Markup(f"{self.start}{escape(self.code, quote=False)}{_END}")

    def add(self, text: str) -> Markup | None:
        """The escaped text to show at the end of the code, or None when a line closed the fence."""
        *lines, rest = (self.line + text).split("\n")
        if any(_closes(line, self.mark) for line in lines):
            return None
        visible = "" if _may_close(rest, self.mark) else self._dedent(rest)
        more = "\n".join((*map(self._dedent, lines), visible))[self.shown :]
        self.code, self.line, self.shown = self.code + more, rest, len(visible)
        return Markup(escape(more, quote=False))

    def _dedent(self, line: str) -> str:
        at = column = 0
        while column < self.indent and line[at : at + 1] in (" ", "\t"):
            column += 1 if line[at] == " " else 4 - column % 4
            at += 1
        return " " * max(0, column - self.indent) + line[at:]


def end_of_fence(text: str) -> int | None:
    """Where the fence that begins the text has ended, its last line end included; None while it is open."""
    if (match := _START.match(text)) is None:
        return None
    at = match.end()
    for line in text[at:].split("\n")[:-1]:
        at += len(line) + 1
        if _closes(line, match.group(2)):
            return at
    return None


def _closes(line: str, mark: str) -> bool:
    return re.fullmatch(rf" {{0,3}}{re.escape(mark)}{re.escape(mark[0])}* *", line) is not None


def _may_close(line: str, mark: str) -> bool:
    return re.fullmatch(rf" {{0,3}}{re.escape(mark[0])}* *", line) is not None
