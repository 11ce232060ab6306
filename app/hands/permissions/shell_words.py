"""Reads words: from nodes of the grammar to parts whose value is known, or is known to be unknown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from app.hands.permissions.shell_quoting import Piece, ansi_c, bare, double_quoted, here_document
from app.hands.permissions.shell_tree import (
    Arithmetic,
    Body,
    Part,
    ProcessSubstitution,
    Substitution,
    Text,
    Unclear,
    Variable,
    Word,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
_PLAIN_EXPANSION = re.compile(
    r"\$\{#?([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?])\}|\$\{[A-Za-z_][A-Za-z0-9_]*\[[@*0-9]+\]\}"
)
_HARMLESS_EXPANSION = re.compile(
    r"\$\{(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*])(?:\[[@*0-9]+\])?(?::?[-+?]|##?|%%?|//?[#%]?|\^\^?|,,?|:\s*[0-9]+(?::[0-9]+)?\})",
)
_NUMBERS = re.compile(r"[\s0-9A-Za-z_+\-*/%<>=!&|^~?:,()]*")
_ARITHMETIC_NAME = re.compile(r"(?<![0-9A-Za-z_])[A-Za-z_][A-Za-z0-9_]*")


class WordReader:
    """Reads the words of one text. ``read_body`` reads the commands that stand in a substitution."""

    def __init__(self, source: bytes, read_body: Callable[[Node], Body]) -> None:
        self._bytes = source
        self._read_body = read_body

    def read(self, node: Node) -> Word:
        return Word(tuple(self._parts(node, quoted=False)), text_of(node))

    def plain(self, node: Node) -> Word:
        """A name that the grammar does not call a word."""
        return Word((Text(text_of(node)),), text_of(node))

    def arithmetic(self, source: str) -> Word:
        return Word((_arithmetic(source, source, quoted=True),), source)

    def read_document(self, body: Node, source: str) -> Word | None:
        """The text of a here-document with expansions; ``source`` is all of it."""
        lead = self._bytes[: body.start_byte].rpartition(b"\n")[2].decode("utf-8", "replace")
        parts: list[Part] = [Text(lead, quoted=True)]
        for text, child in self._stretches(body):
            pieces = here_document(text)
            if pieces is None:
                return None
            parts.extend(map(_quoted, pieces))
            parts.extend(self._parts(child, quoted=True) if child is not None else ())
        return Word(tuple(parts), source)

    def _parts(self, node: Node, *, quoted: bool) -> Iterator[Part]:
        read = _PARTS.get(node.type)
        if read is None:
            yield self._unclear(node, quoted)
        else:
            yield from read(self, node, quoted)

    def _unclear(self, node: Node, quoted: bool, *, harmless: bool = False) -> Unclear:
        inside = tuple(s for child in _substitutions(node) for s in self._read_body(child))
        return Unclear(text_of(node), harmless, inside, quoted)

    def _bare(self, node: Node, quoted: bool) -> Iterator[Part]:
        pieces = bare(text_of(node)) if not node.children else None
        if pieces is None:
            yield self._unclear(node, quoted)
        else:
            yield from (Text(text, escaped or quoted) for text, escaped in pieces)

    def _raw_string(self, node: Node, quoted: bool) -> Iterator[Part]:
        source = text_of(node)
        inner = source[1:-1]
        whole = len(source) >= 2 and source[0] == source[-1] == "'" and "'" not in inner
        yield Text(inner, quoted=True) if whole else self._unclear(node, quoted)

    def _ansi_c(self, node: Node, quoted: bool) -> Iterator[Part]:
        source = text_of(node)
        text = ansi_c(source[2:-1]) if source.startswith("$'") and source.endswith("'") else None
        yield self._unclear(node, quoted) if text is None else Text(text, quoted=True)

    def _string(self, node: Node, quoted: bool) -> Iterator[Part]:
        first, *_, last = node.children
        if first.type != '"' or last.type != '"' or last.is_missing:
            yield self._unclear(node, quoted)
            return
        yield Text("", quoted=True)
        for text, child in self._stretches(node, margin=1):
            pieces = double_quoted(text)
            yield from [self._unclear(node, quoted)] if pieces is None else map(_quoted, pieces)
            yield from self._parts(child, quoted=True) if child is not None else ()

    def _stretches(self, node: Node, margin: int = 0) -> Iterator[tuple[str, Node | None]]:
        """Each stretch of text of a node and the expansion that ends it; ``$name`` is part of the text.

        The grammar errs about some dollar signs in quotes, so they are read here.
        """
        at = node.start_byte + margin
        for child in node.children:
            if child.type in _EXPANSIONS:
                yield self._bytes[at : child.start_byte].decode("utf-8", "replace"), child
                at = child.end_byte
        yield self._bytes[at : node.end_byte - margin].decode("utf-8", "replace"), None

    def _concatenation(self, node: Node, quoted: bool) -> Iterator[Part]:
        at = node.start_byte
        for child in node.children:
            if child.start_byte != at:
                yield self._unclear(node, quoted)
                return
            at = child.end_byte
            yield from self._parts(child, quoted=quoted)

    def _simple_expansion(self, node: Node, quoted: bool) -> Iterator[Part]:
        name = text_of(node)[1:]
        yield Variable(name, quoted) if _NAME.fullmatch(name) else self._unclear(node, quoted)

    def _expansion(self, node: Node, quoted: bool) -> Iterator[Part]:
        source = text_of(node)
        match = _PLAIN_EXPANSION.fullmatch(source)
        if match is None:
            yield self._unclear(node, quoted, harmless=_is_harmless(node, source))
        elif match[1] is None or source.startswith("${#"):
            yield Unclear(source, harmless=True, quoted=quoted)
        else:
            yield Variable(match[1], quoted)

    def _substitution(self, node: Node, quoted: bool) -> Iterator[Part]:
        source = text_of(node)
        if source.startswith("`") and "\\" in source:
            yield self._unclear(node, quoted)
            return
        yield Substitution(self._read_body(node), quoted)

    def _process(self, node: Node, quoted: bool) -> Iterator[Part]:
        yield ProcessSubstitution(self._read_body(node))

    def _arithmetic(self, node: Node, quoted: bool) -> Iterator[Part]:
        source = text_of(node)
        inner = source[3:-2] if source.startswith("$((") and source.endswith("))") else None
        if inner is None:
            yield self._unclear(node, quoted)
        else:
            part = _arithmetic(inner, source, quoted=quoted)
            yield part if isinstance(part, Arithmetic) else self._unclear(node, quoted)

    def _number(self, node: Node, quoted: bool) -> Iterator[Part]:
        yield from self._bare(node, quoted)

    def _braces(self, node: Node, quoted: bool) -> Iterator[Part]:
        yield Text(text_of(node), quoted)

    def _pattern(self, node: Node, quoted: bool) -> Iterator[Part]:
        source = text_of(node)
        yield Text(source, quoted=True) if not set(source) & set("`$") else self._unclear(node, quoted)


def _is_harmless(node: Node, source: str) -> bool:
    """Whether an expansion only works with text, and all commands in it are known."""
    if not _HARMLESS_EXPANSION.match(source):
        return False
    for child in _substitutions(node):
        source = source.replace(text_of(child), "", 1)
    return not any(sign in source for sign in ("`", "$(", "<(", ">(", "$["))


def _quoted(piece: Piece) -> Part:
    return Variable(piece.text, quoted=True) if piece.is_variable else Text(piece.text, quoted=True)


def _arithmetic(inner: str, source: str, *, quoted: bool) -> Arithmetic | Unclear:
    plain = re.sub(r"\$(?=[A-Za-z_])", "", inner)
    if not _NUMBERS.fullmatch(plain):
        return Unclear(source, harmless=False, quoted=quoted)
    return Arithmetic(tuple(_ARITHMETIC_NAME.findall(plain)), quoted)


def _substitutions(node: Node) -> Iterator[Node]:
    """The outermost substitutions below a node."""
    for child in node.children:
        if child.type in ("command_substitution", "process_substitution"):
            yield child
        else:
            yield from _substitutions(child)


def text_of(node: Node) -> str:
    """As it is written."""
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


_PARTS: dict[str, Callable[[WordReader, Node, bool], Iterator[Part]]] = {
    "word": WordReader._bare,
    "number": WordReader._number,
    "variable_name": WordReader._bare,
    "special_variable_name": WordReader._bare,
    "file_descriptor": WordReader._bare,
    "raw_string": WordReader._raw_string,
    "ansi_c_string": WordReader._ansi_c,
    "string": WordReader._string,
    "concatenation": WordReader._concatenation,
    "simple_expansion": WordReader._simple_expansion,
    "expansion": WordReader._expansion,
    "command_substitution": WordReader._substitution,
    "process_substitution": WordReader._process,
    "arithmetic_expansion": WordReader._arithmetic,
    "brace_expression": WordReader._braces,
    "extglob_pattern": WordReader._pattern,
    "regex": WordReader._pattern,
}
_EXPANSIONS = frozenset({"expansion", "command_substitution", "arithmetic_expansion"})
WORDS = _PARTS.keys() - {"variable_name", "special_variable_name", "file_descriptor"} | {"translated_string"}
"""The nodes that are words."""
