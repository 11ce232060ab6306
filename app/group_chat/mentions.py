"""The names that the user calls with ``@``: binding, unlike those in the prose of a model.

The longest name wins, and a name ends where a word ends: in a script that sets no blanks between words, anywhere.
Code and quotations call nobody, and neither do addresses, paths and scopes of packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from unicodedata import category, normalize

from app.group_chat.asides import asides
from app.group_chat.roles import USER

LONGEST_UNKNOWN = 40
"""Characters of a name that nobody has; of more it is no name."""

_AT = re.compile(r"[@＠](?![\s@＠])")
_LINE_END = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_ADDRESS = re.compile(r"\b(?:https?|ftp|file|git|ssh|wss?)://[!-~]*", re.IGNORECASE)
_WITHOUT_BLANKS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u9fff"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese; Korean too, where endings are glued to a name."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """Ids in the order in which the user called them, each once; and the names that nobody has."""

    to: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def read_mentions(author: str, text: str, members: Mapping[str, str]) -> Mentions:
    """Whom a text calls. ``members`` gives the display name of each id; only the user calls anybody by a name.

    Names match without regard to case and to the width of blanks; where two members differ in nothing else, the one
    whose name is written exactly so is meant. Takes time as the text is long.
    """
    if author != USER or not _AT.search(text):
        return Mentions()
    called: dict[str, None] = {}
    unknown: dict[str, None] = {}
    names = _Names(members)
    glued = -1
    for at in _calls(text):
        if text[at - 1 : at] == "/" and at != glued:
            continue
        found = names.read(text, at + 1)
        if found.member is not None:
            called[found.member] = None
            if found.rest[:2] in ("/@", "/＠"):
                glued = text.index(found.rest[1], at + 1)
        elif found.unknown:
            unknown[found.unknown] = None
    return Mentions(tuple(called), tuple(unknown))


def _calls(text: str) -> Iterator[int]:
    """Where an ``@`` may begin a mention."""
    spans = iter(sorted([*asides(text), *(one.span() for one in _ADDRESS.finditer(text))]))
    first, end = next(spans, (len(text), len(text)))
    for one in _AT.finditer(text):
        at = one.start()
        while end <= at:
            first, end = next(spans, (len(text), len(text) + 1))
        before = text[at - 1 : at]
        if at < first and before != "\\" and not _goes_on(before):
            yield at


@dataclass(frozen=True, slots=True)
class _Found:
    member: str | None = None
    rest: str = ""
    """Of the line, as far as it was read."""
    unknown: str = ""


@dataclass(slots=True)
class _Names:
    members: Mapping[str, str]
    _written: dict[str, dict[str, str]] = field(init=False)
    """By its plain form: each name as it is written, and its id."""
    _lengths: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._written = {}
        for member, name in self.members.items():
            if plain := _plain(name).strip():
                self._written.setdefault(plain.casefold(), {}).setdefault(plain, member)
        self._lengths = sorted({len(name) for name in self._written}, reverse=True)

    def read(self, text: str, first: int) -> _Found:
        """The longest name that stands at ``first``."""
        longest = max([LONGEST_UNKNOWN, *self._lengths[:1]])
        # A letter may be written as several characters, and some blanks as one.
        piece = text[first : first + 4 * longest]
        if line_end := _LINE_END.search(piece):
            piece = piece[: line_end.start()]
        line = _plain(piece)
        folded = line.casefold()
        for length in self._lengths:
            if length > len(folded) or (same := self._written.get(folded[:length])) is None:
                continue
            rest = folded[length:]
            if _WITHOUT_BLANKS.match(folded[length - 1]) or _ends(rest):
                member = same.get(line[:length]) or next(iter(same.values()))
                return _Found(member, rest)
        return _Found(unknown=_unknown(line))


def _plain(text: str) -> str:
    """The same for texts that look the same: one form of each letter, one kind of blank, no variation signs."""
    return re.sub(r"\s+", " ", normalize("NFKC", text).replace("\ufe0f", ""))


def _goes_on(character: str) -> bool:
    """Whether a word of a script with blanks goes on through this character."""
    return _is_of_word(character) and not _WITHOUT_BLANKS.match(character)


def _is_of_word(character: str) -> bool:
    return character == "_" or (character != "" and category(character)[0] in "LNM")


def _ends(rest: str) -> bool:
    """Whether a name ends before ``rest``: no longer word, no scope of a package, no address."""
    if rest[:1] in ("-", "/"):
        return not _goes_on(rest[1:2])
    return rest[:1] != "@" and not _goes_on(rest[:1])


def _unknown(line: str) -> str:
    """The word at the beginning of a line as the name that it may have been meant to be, or nothing."""
    length = 0
    while _is_of_word(line[length : length + 1]):
        length += 1
        if line[length : length + 1] == "-" and _goes_on(line[length + 1 : length + 2]):
            length += 1
    is_name = 0 < length <= LONGEST_UNKNOWN and not line[0].isdigit()
    is_place = line[length : length + 1] in ("/", "@") and _goes_on(line[length + 1 : length + 2])
    return line[:length] if is_name and not is_place else ""
