"""Reads what is made of other statements: choices, loops, functions, and the expressions that they test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from app.hands.permissions.shell_tree import (
    Block,
    Body,
    Choice,
    Expression,
    Function,
    Loop,
    Statement,
    Word,
)
from app.hands.permissions.shell_words import WORDS, text_of

if TYPE_CHECKING:
    from app.hands.permissions.shell_grammar import Reader

SEPARATORS = frozenset(
    {
        *(";", "\n", "&", ";;", ";&", ";;&", "(", ")", "{", "}", "$(", "`", "<(", ">("),
        *("then", "do", "done", "fi", "esac", "in", "else", "elif"),
    }
)
"""What stands between statements and says nothing by itself."""

_WORKS_OUT = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BY_NAME = frozenset({"-v", "-R"})
"""Tests of a variable by its name, in which a command may stand."""


def read_if(reader: Reader, node: Node) -> Statement:
    arms: list[list[Statement]] = [[]]
    for child in node.children:
        if child.type == "then":
            arms.append([])
        elif child.type in ("elif_clause", "else_clause"):
            arms.append(list(reader.body(child)))
        elif child.type not in SEPARATORS and child.type != "if":
            arms[-1].append(reader.statement(child))
    return reader.whole(node, Choice(tuple(arms[0]), tuple(map(tuple, arms[1:]))))


def read_case(reader: Reader, node: Node) -> Statement:
    subject = node.child_by_field_name("value")
    items = [child for child in node.children if child.type == "case_item"]
    arms: list[Body] = []
    patterns: list[Word] = []
    for item in items:
        values = item.children_by_field_name("value")
        patterns.extend(reader.words.read(value) for value in values)
        inner = [c for c in item.children if c not in values and c.type not in SEPARATORS and c.type != "|"]
        arms.append((*(reader.statement(child) for child in inner), *reader.stray(item)))
    if subject is None:
        return reader.unread(node)
    return reader.whole(node, Choice((), tuple(arms), (reader.words.read(subject), *patterns)))


def read_for(reader: Reader, node: Node) -> Statement:
    variable = node.child_by_field_name("variable")
    body = node.child_by_field_name("body")
    if node.children[0].type != "for" or variable is None or body is None:
        return reader.unread(node)
    named = node.children_by_field_name("value")
    values = tuple(reader.words.read(value) for value in named)
    has_list = any(child.type == "in" for child in node.children)
    loop = Loop(text_of(variable), values if has_list else None, reader.body(body))
    return reader.whole(node, loop)


def read_c_style_for(reader: Reader, node: Node) -> Statement:
    body = node.child_by_field_name("body")
    if body is None:
        return reader.unread(node)
    head = reader.source[node.start_byte : body.start_byte].decode("utf-8", "replace")
    numbers = reader.words.arithmetic(head.replace("for", " ", 1).replace(";", ",").rstrip(", \n"))
    loop = Loop(None, None, reader.body(body))
    return Block((Expression((), (numbers,), head), loop), subshell=False)


def read_while(reader: Reader, node: Node) -> Statement:
    kept: list[Statement] = []
    for child in node.children:
        if child.type == "do_group":
            kept.extend(reader.body(child))
        elif child.type not in SEPARATORS and child.type not in ("while", "until"):
            kept.append(reader.statement(child))
    return reader.whole(node, Loop(None, None, tuple(kept)))


def read_function(reader: Reader, node: Node) -> Statement:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None or not re.fullmatch(r"[^\s$`'\"\\]+", text_of(name)):
        return reader.unread(node)
    inner = reader.statement(body)
    extra = [child for child in node.children if child.type.endswith("_redirect")]
    if extra:
        inner = reader.redirected_by(inner, extra, node)
    return reader.whole(node, Function(text_of(name), inner, text_of(node)))


def read_expression(reader: Reader, node: Node) -> Statement:
    opening = node.children[0].type
    if opening == "((":
        inner = text_of(node).strip()[2:-2]
        return Expression((), (reader.words.arithmetic(inner),), text_of(node))
    found = list(leaves(node))
    operators = [text_of(leaf) for leaf in found if leaf.type not in WORDS]
    words = tuple(reader.words.read(leaf) for leaf in found if leaf.type in WORDS)
    redirects = opening == "[" and {"<", ">"} & set(operators)
    ends = opening == "[" and "\n" in text_of(node)
    if redirects or ends or _BY_NAME & set(operators) or any(reader.stray(node, found)):
        return reader.unread(node)
    works_out = opening == "[[" and _WORKS_OUT & set(operators)
    return reader.whole(node, Expression(words, words if works_out else (), text_of(node)))


def leaves(node: Node) -> Iterator[Node]:
    """The words and operators below a node, not what is inside of words."""
    for child in node.children:
        if child.type in WORDS or not child.children:
            yield child
        else:
            yield from leaves(child)
