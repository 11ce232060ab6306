"""Here-documents: where the text begins and ends, and what else stands on the line that opens it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from app.hands.permissions.shell_tree import Redirection, Text, Word
from app.hands.permissions.shell_words import WordReader, text_of

_DELIMITER = re.compile(r"([\"']?)([A-Za-z0-9_.-]+)\1|\\([A-Za-z0-9_.-]+)")
_OPERATORS = {"|", "|&", "&&", "||"}


@dataclass(frozen=True, slots=True)
class HereDocument:
    """``operator`` joins the command to what ``follows`` on the same line."""

    redirection: Redirection
    redirects: tuple[Node, ...]
    arguments: tuple[Node, ...]
    operator: str | None
    follows: tuple[Node, ...]


def read_here_document(node: Node, source: bytes, words: WordReader) -> HereDocument | None:
    """A ``heredoc_redirect``; None where anything about it is unusual."""
    by_type = {child.type: child for child in node.children}
    start, body, end = by_type.get("heredoc_start"), by_type.get("heredoc_body"), by_type.get("heredoc_end")
    if start is None or end is None or node.has_error:
        return None
    delimiter = _DELIMITER.fullmatch(text_of(start))
    line_end = source.find(b"\n", start.end_byte)
    rest = [
        child
        for child in node.children
        if child not in (start, body, end) and child.type not in ("<<", "<<-")
    ]
    if delimiter is None or any(child.end_byte > line_end for child in rest):
        return None
    strips = "<<-" in by_type
    lines = source[line_end + 1 : end.start_byte].split(b"\n")
    name = (delimiter[2] or delimiter[3]).encode()
    if (
        any((line.lstrip(b"\t") if strips else line) == name for line in lines)
        or text_of(end).strip() != name.decode()
    ):
        return None
    word = _read_body(source[line_end + 1 : end.start_byte], body, delimiter, words)
    operator, follows, redirects, arguments = _rest(rest)
    if word is None or (operator is None) != (not follows):
        return None
    return HereDocument(
        Redirection("<<", word, f"<<{name.decode()}"), redirects, arguments, operator, follows
    )


def _read_body(text: bytes, body: Node | None, delimiter: re.Match[str], words: WordReader) -> Word | None:
    source = text.decode("utf-8", "replace")
    if delimiter[1] or delimiter[3] or body is None:
        return Word((Text(source, quoted=True),), source)
    return words.read_document(body, source)


def _rest(nodes: list[Node]) -> tuple[str | None, tuple[Node, ...], tuple[Node, ...], tuple[Node, ...]]:
    """Operator, what follows it, redirections, arguments."""
    operator: str | None = None
    follows: list[Node] = []
    redirects: list[Node] = []
    arguments: list[Node] = []
    for node in nodes:
        if node.type in _OPERATORS:
            operator = "|" if node.type == "|&" else node.type
        elif node.type == "pipeline" and node.children[0].type in ("|", "|&"):
            operator = "|"
            follows.extend(child for child in node.children if child.is_named)
        elif node.type == "file_redirect":
            redirects.append(node)
        elif operator is not None:
            follows.append(node)
        else:
            arguments.append(node)
    return operator, tuple(follows), tuple(redirects), tuple(arguments)
