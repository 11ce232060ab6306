"""Reads a shell script: from its text to the values of ``shell_tree.py``, by tree-sitter's grammar of bash.

The grammar is forgiving and bash is not, so each thing is taken over only where it was looked at: every character
belongs to a node that is understood or is blank, quotes are taken off here, and whatever is left becomes ``Unread``
or ``Unclear``. Nothing is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from app.hands.permissions import shell_compounds
from app.hands.permissions.shell_compounds import SEPARATORS, leaves
from app.hands.permissions.shell_documents import read_here_document
from app.hands.permissions.shell_text import obstacle
from app.hands.permissions.shell_tree import (
    AndOr,
    Assignment,
    Block,
    Body,
    Command,
    Declaration,
    Pipeline,
    Redirected,
    Redirection,
    Statement,
    Unread,
    Word,
)
from app.hands.permissions.shell_words import WORDS, WordReader, text_of

DEEPEST = 40
"""Levels of nesting: of statements, and of substitutions in them."""

_BLANK = re.compile(rb"(?:[ \t\n]|\\\n)*")
_UNREAD = "is not a command that can be read"


def parse(text: str) -> Body:
    """The statements of a script; never raises. What it does not understand is ``Unread``."""
    hidden = obstacle(text)
    body = Reader(text).script()
    return body if hidden is None else (Unread(text, hidden), *body)


@lru_cache(1)
def _language() -> Language:
    return Language(tree_sitter_bash.language())


class Reader:
    """One text and its nodes."""

    def __init__(self, text: str) -> None:
        self.source = text.encode("utf-8", "replace")
        self.words = WordReader(self.source, self.body)
        self._depth = 0

    def script(self) -> Body:
        root = Parser(_language()).parse(self.source).root_node
        body = self.body(root)
        if root.has_error:
            return (*body, Unread(text_of(root), _UNREAD))
        return body

    # Statements

    def body(self, node: Node) -> Body:
        """The statements among the children of a node, and what stands between them."""
        found = [self.statement(child) for child in node.children if child.type not in SEPARATORS]
        found.extend(self.stray(node))
        return tuple(found)

    def stray(self, node: Node, children: Sequence[Node] | None = None) -> Iterator[Unread]:
        """What lies between the children of a node and is not blank there.

        A line end is no blank within a simple command; with a backslash before it, it may join two words to one.
        Two words with nothing between them are one word, which the grammar does not always see.
        """
        for before, after in pairwise(node.children if children is None else children):
            between = self.source[before.end_byte : after.start_byte]
            joined = between.replace(b"\\\n", b"")
            after_operator = before.type in ("&&", "||", "|", "|&")
            joins = between and not joined and not after_operator
            ends = b"\n" in joined and node.type in _ONE_LINE and not after_operator
            one_word = not between and before.type in _WORD_LIKE and after.type in _WORD_LIKE
            if joins or ends or (one_word and node.type == "command") or not _BLANK.fullmatch(between):
                yield Unread(between.decode("utf-8", "replace"), _UNREAD)

    def statement(self, node: Node) -> Statement:
        read = _STATEMENTS.get(node.type)
        if read is None or self._depth >= DEEPEST or (node.has_error and node.type == "command"):
            return self.unread(node)
        self._depth += 1
        try:
            return read(self, node)
        finally:
            self._depth -= 1

    def unread(self, node: Node) -> Unread:
        if self._depth >= DEEPEST:
            return Unread(text_of(node), "is nested too deeply to be understood", lost=True)
        self._depth += 1
        inside = tuple(
            self.statement(child) for child in node.children if child.is_named and child.type != "comment"
        )
        self._depth -= 1
        found = inside if node.type != "command" else (*inside, *self._bare_command(node))
        return Unread(text_of(node), _UNREAD, found)

    def _bare_command(self, node: Node) -> Body:
        words = tuple(self.words.read(child) for child in node.children if child.type in WORDS)
        return (Command(words, (), (), text_of(node)),) if words else ()

    def comment(self, node: Node) -> Statement:
        before = self.source[: node.start_byte]
        if before and (before[-1:] not in b" \t\n;&|()" or before[-2:-1] == b"\\"):
            return self.unread(node)
        return Block((), subshell=False)

    def command(self, node: Node) -> Statement:
        words, assignments, redirections = [], [], []
        for child in node.children:
            if child.type == "command_name":
                words.append(self.words.read(child.children[0]) if child.children else self.words.read(child))
            elif child.type == "variable_assignment" and not words:
                assignments.append(self._assignment(child))
            elif child.type == "file_redirect" or child.type == "herestring_redirect":
                redirections.append(self.redirection(child))
            elif child.type in WORDS or child.type == "$":
                words.append(self.words.read(child))
            else:
                return self.unread(node)
        if any(read is None for read in redirections) or any(self.stray(node)):
            return self.unread(node)
        kept = tuple(read for read in redirections if read is not None)
        return Command(tuple(words), tuple(assignments), kept, text_of(node))

    def assignments(self, node: Node) -> Statement:
        children = node.children if node.type == "variable_assignments" else [node]
        if any(self.stray(node)) and node.type == "variable_assignments":
            return self.unread(node)
        return Command((), tuple(self._assignment(child) for child in children), (), text_of(node))

    def _assignment(self, node: Node) -> Assignment:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        label, _, index = (text_of(name) if name else "").partition("[")
        inside = tuple(self.words.read(child) for child in leaves(node) if child.type in WORDS)
        places = [index.removesuffix("]")] if index else []
        # bash works out what stands in brackets as a number, and runs the commands in it.
        places.extend(word.source for word in inside if word.source.startswith("["))
        if places or len(node.children) > 3 or any(child.type == "+=" for child in node.children):
            return Assignment(label, None, (*inside, *map(self.words.arithmetic, places)))
        if value is None:
            return Assignment(label, Word((), ""))
        return (
            Assignment(label, None, inside)
            if value.type == "array"
            else Assignment(label, self.words.read(value))
        )

    def declaration(self, node: Node) -> Statement:
        keyword, *rest = node.children
        options = tuple(self.words.read(child) for child in rest if child.type in WORDS)
        names = tuple(text_of(child) for child in rest if child.type == "variable_name")
        assignments = tuple(self._assignment(child) for child in rest if child.type == "variable_assignment")
        if len(options) + len(names) + len(assignments) != len(rest) or any(self.stray(node)):
            return self.unread(node)
        return Declaration(text_of(keyword), options, names, assignments, text_of(node))

    def unset(self, node: Node) -> Statement:
        read = self.words.read
        words = tuple(
            read(child) if child.type in WORDS else self.words.plain(child) for child in node.children
        )
        strange = [
            child
            for child in node.children
            if child.type not in WORDS | {"unset", "unsetenv", "variable_name"}
        ]
        return (
            self.unread(node) if strange or any(self.stray(node)) else Command(words, (), (), text_of(node))
        )

    def list_(self, node: Node) -> Statement:
        if len(node.children) != 3 or any(self.stray(node)):
            return Unread(text_of(node), "is not a list that can be read", self.body(node))
        left, operator, right = node.children
        sides = self.statement(left), self.statement(right)
        if operator.type == "&&":
            return AndOr(sides[0], "&&", sides[1])
        if operator.type == "||":
            return AndOr(sides[0], "||", sides[1])
        return Block(sides, subshell=False) if operator.type in (";", "&") else self.unread(node)

    def pipeline(self, node: Node) -> Statement:
        steps = tuple(self.statement(child) for child in node.children if child.type not in ("|", "|&"))
        if any(self.stray(node)):
            return self.unread(node)
        return Pipeline(steps, text_of(node))

    def negated(self, node: Node) -> Statement:
        inside = tuple(self.statement(child) for child in node.children if child.is_named)
        return self.whole(node, Block(inside, subshell=False))

    def block(self, node: Node) -> Statement:
        if node.children and node.children[0].type == "((":
            return shell_compounds.read_expression(self, node)
        return Block(self.body(node), subshell=node.type == "subshell")

    def redirected(self, node: Node) -> Statement:
        body = node.child_by_field_name("body")
        inner = self.statement(body) if body else Command((), (), (), text_of(node))
        return self.redirected_by(inner, [c for c in node.children if c.type.endswith("_redirect")], node)

    def redirected_by(self, inner: Statement, redirects: list[Node], node: Node) -> Statement:
        kept: list[Redirection] = []
        tail: Callable[[Statement], Statement] | None = None
        for child in redirects:
            if child.type == "heredoc_redirect":
                if tail is not None or (read := read_here_document(child, self.source, self.words)) is None:
                    return Unread(
                        text_of(node), "has a here-document that cannot be read", (inner, self.unread(child))
                    )
                kept.extend(each for each in map(self.redirection, read.redirects) if each is not None)
                kept.append(read.redirection)
                if read.arguments and isinstance(inner, Command):
                    added = tuple(map(self.words.read, read.arguments))
                    inner = Command(
                        (*inner.words, *added), inner.assignments, inner.redirections, inner.source
                    )
                tail = self._tail(read.operator, read.follows)
            elif (redirection := self.redirection(child)) is not None:
                kept.append(redirection)
            else:
                return Unread(text_of(node), "has a redirection that cannot be read", (inner,))
        whole = _redirect(inner, tuple(kept), text_of(node))
        return self.whole(node, whole if tail is None else tail(whole))

    def _tail(self, operator: str | None, follows: tuple[Node, ...]) -> Callable[[Statement], Statement]:
        """What stands behind ``<<EOF`` on its line goes on from the command that reads the document."""
        after = tuple(self.statement(node) for node in follows)
        if operator == "|":
            return lambda first: Pipeline((first, *after), "")
        if operator == "&&":
            return lambda first: AndOr(first, "&&", after[0])
        if operator == "||":
            return lambda first: AndOr(first, "||", after[0])
        return lambda first: first

    def redirection(self, node: Node) -> Redirection | None:
        operator = next((child.type for child in node.children if child.type in _REDIRECTS), None)
        targets = [child for child in node.children if child.type in WORDS]
        descriptor = sum(child.type == "file_descriptor" for child in node.children)
        if (
            operator is None
            or len(targets) != 1
            or len(node.children) != descriptor + 2
            or any(self.stray(node))
        ):
            return None
        return Redirection(operator, self.words.read(targets[0]), text_of(node))

    def lone_redirection(self, node: Node) -> Statement:
        """``$(< file)``."""
        redirection = self.redirection(node)
        return self.unread(node) if redirection is None else Command((), (), (redirection,), text_of(node))

    def whole(self, node: Node, statement: Statement) -> Statement:
        """The statement, and beside it what of its node was not looked at."""
        stray = tuple(self.stray(node))
        return Block((statement, *stray), subshell=False) if stray else statement


def _redirect(inner: Statement, redirections: tuple[Redirection, ...], source: str) -> Statement:
    if isinstance(inner, Command):
        return Command(inner.words, inner.assignments, (*inner.redirections, *redirections), source)
    return Redirected(inner, redirections, source)


_ONE_LINE = {
    *("command", "declaration_command", "unset_command", "variable_assignment", "variable_assignments"),
    *("file_redirect", "herestring_redirect", "redirected_statement", "negated_command", "pipeline", "list"),
    *("concatenation", "array_element", "simple_expansion"),
}
"""Nodes in which a line end is the end of a command, whatever the grammar says."""

_WORD_LIKE = WORDS | {"command_name", "$"}
_REDIRECTS = {">", ">>", "<", "&>", "&>>", ">&", "<&", ">|", "<<<"}
_STATEMENTS: dict[str, Callable[[Reader, Node], Statement]] = {
    "command": Reader.command,
    "comment": Reader.comment,
    "variable_assignment": Reader.assignments,
    "variable_assignments": Reader.assignments,
    "declaration_command": Reader.declaration,
    "unset_command": Reader.unset,
    "list": Reader.list_,
    "pipeline": Reader.pipeline,
    "negated_command": Reader.negated,
    "compound_statement": Reader.block,
    "subshell": Reader.block,
    "redirected_statement": Reader.redirected,
    "file_redirect": Reader.lone_redirection,
    "if_statement": shell_compounds.read_if,
    "case_statement": shell_compounds.read_case,
    "for_statement": shell_compounds.read_for,
    "c_style_for_statement": shell_compounds.read_c_style_for,
    "while_statement": shell_compounds.read_while,
    "function_definition": shell_compounds.read_function,
    "test_command": shell_compounds.read_expression,
}
