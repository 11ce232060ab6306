"""The head of a Markdown file, between two lines of ``---``: read leniently, changed without touching the rest.

It is a part of YAML: keys at the left edge, and as values texts in all their spellings, lists of texts, and one level
of names with texts. Files of other tools are often no valid YAML (a colon in a sentence is enough), hold more than we
know, and come from strangers: so there are no anchors, no tags and no types, a value that is not understood is a text,
and what is not changed stays as it was, to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

Value = str | tuple[str, ...] | Mapping[str, str]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RULE = re.compile(r"---[ \t]*")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*")
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?=[ \t\r\n]|$)")
_NAMED = re.compile(r"""("[^"]*"|'[^']*'|[^\s:#\[{-][^:]*):(?:\s+(.*))?""")
_BLOCK = re.compile(r"([|>])(?:([1-9])?([+-])?|([+-])([1-9]))[ \t]*(?:#.*)?")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
}

_SAFE = re.compile(r"[^\W\d_][\w ./()+-]*(?<! )")
_TELLING = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
"""Words that other readers take for something else than a text."""


class FrontMatterError(ValueError):
    """The head begins and does not end."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One key with all its lines as they are; without a key, lines that belong to none."""

    key: str
    lines: tuple[str, ...]

    @property
    def value(self) -> Value:
        first, *rest = self.lines
        return _value(first.partition(":")[2].strip(), rest)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file in its parts; ``text`` puts them together again as they were."""

    opening: str = "---\n"
    entries: tuple[Entry, ...] = ()
    closing: str = "---\n"
    body: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """A text without a head is all body. Raises ``FrontMatterError``."""
        lines = _LINE.findall(text)
        if not lines or not _RULE.fullmatch(lines[0].lstrip("\ufeff").rstrip("\r\n")):
            return cls("", (), "", text)
        for at, line in enumerate(lines[1:], start=1):
            if _END.fullmatch(line.rstrip("\r\n")):
                return cls(lines[0], tuple(_entries(lines[1:at])), line, "".join(lines[at + 1 :]))
        raise FrontMatterError("It begins with --- and no second line of --- ends that part.")

    @property
    def text(self) -> str:
        head = (line for entry in self.entries for line in entry.lines)
        return "".join((self.opening, *head, self.closing, self.body))

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(entry.key for entry in self.entries if entry.key)

    def find(self, key: str) -> Value | None:
        """The value of a key; of one that stands there twice, the last."""
        return next((entry.value for entry in reversed(self.entries) if entry.key == key), None)

    def with_value(self, key: str, value: str | bool | Sequence[str]) -> Self:
        """The key says this: where it stood, else as the last one."""
        line = f"{key}: {written(value)}{self._line_end}"
        entries = [entry for entry in self.entries if entry.key != key]
        at = next((at for at, entry in enumerate(self.entries) if entry.key == key), len(entries))
        entries.insert(at, Entry(key, (line,)))
        return replace(
            self,
            opening=self.opening or f"---{self._line_end}",
            entries=tuple(entries),
            closing=self.closing or f"---{self._line_end}",
        )

    def without(self, key: str) -> Self:
        return replace(self, entries=tuple(entry for entry in self.entries if entry.key != key))

    @property
    def _line_end(self) -> str:
        return "\r\n" if "\r\n" in (self.opening or self.body) else "\n"


def written(value: str | bool | Sequence[str]) -> str:
    """A text, a yes or no, or a list of texts, so that every reader of YAML takes it for that."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _SAFE.fullmatch(value) and value.lower() not in _TELLING
        return value if plain else f'"{"".join(map(_escaped, value))}"'
    return f"[{', '.join(map(written, value))}]"


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _entries(lines: Sequence[str]) -> Iterator[Entry]:
    """Lines that are blank or a remark belong to a key only where its value goes on behind them."""
    key, own, loose = "", list[str](), list[str]()
    for line in lines:
        if found := _KEY.match(line):
            yield from _closed(key, own, loose)
            key, own, loose = found[1], [line], []
        elif not line.strip() or line.startswith("#"):
            loose.append(line)
        else:
            own += [*loose, line]
            loose = []
    yield from _closed(key, own, loose)


def _closed(key: str, own: Sequence[str], loose: Sequence[str]) -> Iterator[Entry]:
    if own:
        yield Entry(key, tuple(own))
    if loose:
        yield Entry("", tuple(loose))


def _value(first: str, rest: Sequence[str]) -> Value:
    if found := _BLOCK.fullmatch(first):
        return _block(rest, folds=found[1] == ">", chomp=found[3] or found[4] or "")
    lines = [line for line in rest if line.strip() and not line.lstrip().startswith("#")]
    if not _COMMENT.sub("", first) and lines:
        begins = lines[0].strip()
        if begins == "-" or begins.startswith("- "):
            return tuple(_scalar(line.strip()[1:].strip()) for line in lines if line.strip().startswith("-"))
        if _NAMED.fullmatch(begins):
            return _mapping(line.strip() for line in lines)
    return _flow(" ".join([first, *(line.strip() for line in lines)]).strip())


def _flow(text: str) -> Value:
    bare = _COMMENT.sub("", text).strip()
    if bare.startswith("[") and bare.endswith("]"):
        return tuple(_scalar(piece) for piece in _pieces(bare[1:-1]))
    if bare.startswith("{") and bare.endswith("}"):
        return _mapping(_pieces(bare[1:-1]))
    return _scalar(text)


def _pieces(text: str) -> list[str]:
    """What commas part, but for those in quotes."""
    pieces, quote, escapes = [""], "", False
    for character in text:
        if quote:
            if character == quote and not escapes:
                quote = ""
            escapes = character == "\\" and not escapes and quote == '"'
        elif character == ",":
            pieces.append("")
            continue
        elif character in "\"'" and not pieces[-1]:
            quote = character
        if pieces[-1] or not character.isspace():
            pieces[-1] += character
    return [piece.strip() for piece in pieces if piece]


def _mapping(lines: Iterator[str] | Sequence[str]) -> Mapping[str, str]:
    named = (found for line in lines if (found := _NAMED.fullmatch(line)))
    return {_scalar(found[1]): _scalar(found[2] or "") for found in named}


def _scalar(text: str) -> str:
    """A text in quotes, or one without, which a remark may follow."""
    if found := re.fullmatch(r"'((?:[^']|'')*)'\s*(?:#.*)?", text):
        return found[1].replace("''", "'")
    if found := re.fullmatch(r'"((?:[^"\\]|\\.)*)"\s*(?:#.*)?', text):
        return _ESCAPE.sub(_meant, found[1])
    return _COMMENT.sub("", text).strip()


def _meant(found: re.Match[str]) -> str:
    name = found[1]
    if len(name) == 1:
        return _ESCAPED.get(name, name)
    code = int(name[1:], 16)
    return chr(code) if code < 0x110000 else "\ufffd"


def _block(lines: Sequence[str], *, folds: bool, chomp: str) -> str:
    """A text of several lines after ``|`` or ``>``, which keeps or joins them."""
    texts = [line.rstrip("\r\n") for line in lines]
    margin = min((len(text) - len(text.lstrip(" ")) for text in texts if text.strip()), default=0)
    text = "\n".join(line[margin:] for line in texts).rstrip("\n")
    if folds:
        text = re.sub(r"\n+", lambda ends: ends[0][1:] or " ", text)
    return text if chomp == "-" or not text else f"{text}\n"
