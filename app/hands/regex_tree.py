"""What the shape of a regular expression tells: a wider one for ripgrep, and whether it can look past a line.

Reads the tree that Python's own parser makes. That parser is not public: where it is not as expected nothing is
told, and a search only becomes slower.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import groupby
from typing import Any

_ALIKE = ("iI\u0130\u0131", "\u0390\u1fd3", "\u03b0\u1fe3", "\ufb05\ufb06")
"""Letters that Python takes for one when case is ignored, and ripgrep for several."""

_BEYOND_ASCII = r"\x{80}-\x{10FFFF}"
_LOOSE_BYTE = r"(?-u:[\x80-\xFF])"
"""A byte that is part of no character: to Python a sign like any other."""
_ANYTHING = rf"(?:[^\n]|{_LOOSE_BYTE})"

_ASCII = {
    "CATEGORY_WORD": "0-9A-Z_a-z",
    "CATEGORY_NOT_WORD": r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f",
    "CATEGORY_DIGIT": "0-9",
    "CATEGORY_NOT_DIGIT": r"\x00-\x2f\x3a-\x7f",
    "CATEGORY_SPACE": r"\x09-\x0d\x1c-\x20",
    "CATEGORY_NOT_SPACE": r"\x00-\x08\x0e-\x1b\x21-\x7f",
}
"""The part of each category on which all versions of Unicode agree."""

_AT = {
    "AT_BEGINNING": r"^\x{FEFF}?",
    "AT_BEGINNING_STRING": r"^\x{FEFF}?",
    "AT_END": r"\r?$",
    "AT_END_STRING": r"\r?$",
}
_LOOKS_PAST = frozenset(
    {"ASSERT", "ASSERT_NOT", "ATOMIC_GROUP", "POSSESSIVE_REPEAT", "AT_BEGINNING_STRING", "AT_END_STRING"}
)


def wider_for_ripgrep(pattern: str, *, case_sensitive: bool) -> str | None:
    """An expression for ripgrep that matches every line this one matches, and perhaps more; None for none known."""
    try:
        tree = _parse(pattern, re.NOFLAG if case_sensitive else re.IGNORECASE)
        return _all(tree, bool(tree.state.flags & re.IGNORECASE))
    except (AttributeError, KeyError, ImportError, ValueError, TypeError, RecursionError, re.error):
        return None


def required_text(pattern: str, *, case_sensitive: bool) -> tuple[str, bool] | None:
    """A text that stands in every match, and whether its case counts; None for none known."""
    try:
        tree = _parse(pattern, re.NOFLAG if case_sensitive else re.IGNORECASE)
        runs = groupby(tree, key=lambda item: str(item[0]) == "LITERAL")
        texts = ["".join(chr(code) for _, code in items) for is_sign, items in runs if is_sign]
        longest = max(texts, key=len, default="")
        return (longest, not tree.state.flags & re.IGNORECASE) if longest.isascii() and longest else None
    except (AttributeError, ImportError, RecursionError, TypeError, re.error):
        return None


def stays_in_line(pattern: str) -> bool:
    """Whether a line that matches alone also makes the text around it match, with ``^`` and ``$`` at line ends."""
    try:
        return _LOOKS_PAST.isdisjoint(_names(_parse(pattern, re.NOFLAG)))
    except (AttributeError, ImportError, RecursionError, re.error):
        return False


def _parse(pattern: str, flags: re.RegexFlag) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # [a&&b] may mean something else one day
        return import_module("re._parser").parse(pattern, int(flags))


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, list | tuple) or hasattr(node, "data"):
        for part in node:
            yield from _names(part)
    elif hasattr(node, "name"):
        yield node.name


def _all(tree: Any, fold: bool) -> str:
    parts = []
    for is_sign, items in groupby(tree, key=lambda item: str(item[0]) == "LITERAL"):
        part = "".join(_WIDER[str(name)](argument, fold) for name, argument in items)
        # Signs stay together: ripgrep looks for whole words faster than for their letters.
        parts.append(f"(?i:{part})" if is_sign and fold else part)
    return "".join(parts)


def _sign(code: int, fold: bool) -> str:
    alike = next((group for group in _ALIKE if chr(code) in group), None) if fold else None
    return f"[{''.join(_escaped(ord(sign)) for sign in alike)}]" if alike else _escaped(code)


def _escaped(code: int) -> str:
    return chr(code) if code < 128 and chr(code).isalnum() else f"\\x{{{code:x}}}"


def _not_sign(code: int, fold: bool) -> str:
    return f"(?:[^{_escaped(code)}]|{_LOOSE_BYTE})"


def _set(items: list[tuple[Any, Any]], fold: bool) -> str:
    if str(items[0][0]) == "NEGATE":
        # What is certainly left out: less than Python leaves out, so that more matches.
        return f"(?:[^{''.join(_member(*item) for item in items[1:])}]|{_LOOSE_BYTE})"
    inside = "".join(_member(*item) for item in items)
    if fold:
        inside += "".join(_escaped(ord(sign)) for group in _ALIKE for sign in group)
    if any(str(name) == "CATEGORY" for name, _ in items):
        inside += _BEYOND_ASCII
    return f"(?:{'(?i:' if fold else '(?:'}[{inside}])|{_LOOSE_BYTE})"


def _member(name: Any, argument: Any) -> str:
    match str(name):
        case "LITERAL":
            return _escaped(argument)
        case "RANGE":
            return f"{_escaped(argument[0])}-{_escaped(argument[1])}"
        case _:
            return _ASCII[str(argument)]


def _branch(argument: tuple[Any, list[Any]], fold: bool) -> str:
    return f"(?:{'|'.join(_all(branch, fold) for branch in argument[1])})"


def _group(argument: tuple[Any, int, int, Any], fold: bool) -> str:
    _, added, removed, inner = argument
    fold = (fold or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
    return f"(?:{_all(inner, fold)})"


def _repeat(argument: tuple[int, Any, Any], fold: bool) -> str:
    low, high, inner = argument
    most = "" if str(high) == "MAXREPEAT" else int(high)
    return f"(?:{_all(inner, fold)}){{{low},{most}}}"


def _either(argument: tuple[Any, Any, Any], fold: bool) -> str:
    _, then, otherwise = argument
    return f"(?:{_all(then, fold)}|{_all(otherwise, fold) if otherwise else ''})"


_WIDER: dict[str, Callable[[Any, bool], str]] = {
    "LITERAL": _sign,
    "NOT_LITERAL": _not_sign,
    "IN": _set,
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "POSSESSIVE_REPEAT": _repeat,
    "GROUPREF_EXISTS": _either,
    "ANY": lambda _, fold: _ANYTHING,
    "ANY_ALL": lambda _, fold: _ANYTHING,
    "AT": lambda where, fold: _AT.get(str(where), ""),
    "ATOMIC_GROUP": _all,
    "ASSERT": lambda _, fold: "",
    "ASSERT_NOT": lambda _, fold: "",
    "GROUPREF": lambda _, fold: f"{_ANYTHING}*",
}
