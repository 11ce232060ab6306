"""What a search looks for in lines: a text or a regular expression. Pure.

A pattern is held against one line at a time, without its end; a regular expression is Python's. The standard
library is all that this module and those it imports need: they run in a bare process too.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from app.hands.errors import Refused
from app.hands.regex_tree import required_text, stays_in_line

Span = tuple[int, int, int]
"""A matching line in a block of whole lines: where it starts and ends, and where in it the match starts."""

_ASCII_ONLY_ALIKE = {
    "i": ("İ".encode(), "ı".encode()),
    "k": ("\u212a".encode(),),
    "s": ("ſ".encode(),),
}
"""Signs beyond ASCII that are the same letter as one of ASCII when case is ignored."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for in lines."""

    pattern: str
    regex: bool = False
    case_sensitive: bool = False


class Matcher(Protocol):
    def spans(self, block: bytes) -> Iterator[Span]:
        """The matching lines of a block, in order. Lines end with a line feed; the text is UTF-8 or nearly."""
        ...


def matcher_for(query: Query) -> Matcher:
    """Raises ``Refused`` for a pattern that cannot be one."""
    _check(query)
    return _regex(query) if query.regex else _text(query.pattern, query.case_sensitive)


def _text(wanted: str, case_sensitive: bool) -> Matcher:
    if case_sensitive:
        return _Text(wanted.encode())
    by_sign = _Regex(re.compile(re.escape(wanted), re.IGNORECASE), None, None)
    return _AnyCase(wanted.lower(), by_sign) if wanted.isascii() else by_sign


def _regex(query: Query) -> Matcher:
    line = _compiled(query)
    in_line = stays_in_line(query.pattern)
    whole = _quietly_compiled(line.pattern, line.flags | re.MULTILINE) if in_line else None
    required = required_text(query.pattern, case_sensitive=query.case_sensitive)
    return _Regex(line, whole, _text(*required) if required else None)


class _Text:
    def __init__(self, wanted: bytes) -> None:
        self._wanted = wanted

    def spans(self, block: bytes) -> Iterator[Span]:
        at = block.find(self._wanted)
        while at >= 0:
            end = block.find(b"\n", at)
            end = len(block) if end < 0 else end
            yield block.rfind(b"\n", 0, at) + 1, end, at
            at = block.find(self._wanted, end)


class _AnyCase:
    """ASCII text in any case: in blocks that hold no look-alike from beyond ASCII, lower case does it."""

    def __init__(self, wanted: str, by_sign: Matcher) -> None:
        self._text = _Text(wanted.encode())
        self._by_sign = by_sign
        self._alike = [sign for letter in wanted for sign in _ASCII_ONLY_ALIKE.get(letter, ())]

    def spans(self, block: bytes) -> Iterator[Span]:
        if not block.isascii() and any(sign in block for sign in self._alike):
            return self._by_sign.spans(block)
        return self._text.spans(block.lower())


class _Regex:
    """Line by line, after a look at the whole block: for a text that is in every match, then for a match."""

    def __init__(
        self, line: re.Pattern[str], whole: re.Pattern[str] | None, required: Matcher | None
    ) -> None:
        self._line = line
        self._whole = whole
        self._required = required

    def spans(self, block: bytes) -> Iterator[Span]:
        if self._required and next(self._required.spans(block), None) is None:
            return
        if self._whole and not self._whole.search(_one_kind_of_line_end(block)):
            return
        start = 0
        for line in block.removesuffix(b"\n").split(b"\n"):
            shown = line.removesuffix(b"\r").decode(errors="surrogateescape")
            if found := self._line.search(shown):
                before = shown[: found.start()].encode(errors="surrogateescape")
                yield start, start + len(line), start + len(before)
            start += len(line) + 1


def _one_kind_of_line_end(block: bytes) -> str:
    text = block.decode(errors="surrogateescape")
    return text.replace("\r\n", "\n").removesuffix("\r") if b"\r" in block else text


def _check(query: Query) -> None:
    if not query.pattern:
        raise Refused("E_BAD_INPUT", "The pattern is empty. Say what to look for.")
    if any(sign in query.pattern for sign in "\n\r\0") or any(
        "\ud800" <= s <= "\udfff" for s in query.pattern
    ):
        raise Refused("E_BAD_INPUT", "A pattern is held against single lines. Look for a part of one line.")


def _compiled(query: Query) -> re.Pattern[str]:
    try:
        return _quietly_compiled(query.pattern, re.NOFLAG if query.case_sensitive else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise Refused(
            "E_BAD_INPUT",
            f"The regular expression cannot be understood: {error}. It is Python's: write \\( for a bracket, "
            "or leave regex out to look for the text as it is.",
        ) from error


def _quietly_compiled(pattern: str, flags: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # [a&&b] may mean something else one day
        return re.compile(pattern, flags)
