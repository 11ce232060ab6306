"""Colours of code: four classes, made by Pygments, which is imported with the first coloured block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 10_000
"""Characters of a block that is coloured; each takes about 3 µs."""

_CLASSES = {
    "tk-k": ("Token.Keyword", "Token.Name.Tag", "Token.Operator.Word"),
    "tk-s": ("Token.Literal", "Token.Generic.Inserted"),
    "tk-c": ("Token.Comment", "Token.Generic.Deleted"),
    "tk-f": ("Token.Name.Function", "Token.Name.Class", "Token.Name.Decorator", "Token.Name.Attribute"),
}
_LANGUAGE = re.compile(r"[\w+-]{1,32}", re.ASCII)


def language_of(info: str) -> str:
    """The language that a fence names in its first word, lower case; empty for none or a strange one."""
    word = info.split(maxsplit=1)[0] if info.strip() else ""
    return word.lower() if _LANGUAGE.fullmatch(word) else ""


def highlight(code: str, language: str) -> str:
    """Escaped HTML of the code, with ``span`` elements of class ``tk-k``, ``tk-s``, ``tk-c``, ``tk-f``."""
    lexer = _find_lexer(language) if language else None
    return escape(code, quote=False) if lexer is None else _coloured(code, lexer)


@lru_cache(maxsize=128)
def _coloured(code: str, lexer: Lexer) -> str:
    return "".join(_spans(lexer.get_tokens(code)))


@lru_cache(maxsize=64)
def _find_lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _spans(tokens: Iterable[tuple[object, str]]) -> Iterator[str]:
    classed = ((_class_of(str(kind)), text) for kind, text in tokens)
    for name, run in groupby(classed, key=lambda pair: pair[0]):
        text = escape("".join(text for _, text in run), quote=False)
        yield f'<span class="{name}">{text}</span>' if name else text


@lru_cache(maxsize=256)
def _class_of(kind: str) -> str:
    return next((name for name, kinds in _CLASSES.items() if kind.startswith(kinds)), "")
