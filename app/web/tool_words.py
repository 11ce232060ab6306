"""How a tool call is said in one line: an icon, a verb, what it acts on, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.web.plain import one_line, plain_output

LINES_SHOWN = 200
CHARACTERS_SHOWN = 8_000


@dataclass(frozen=True, slots=True)
class Words:
    icon: str
    verb: str
    target: tuple[str, ...]
    """Arguments that name what it acts on, the most telling first."""


_WORDS = {
    "read_file": Words("text", "read", ("path",)),
    "stat_file": Words("file", "look at", ("path",)),
    "list_files": Words("folder", "list", ("path",)),
    "search_files": Words("search", "find", ("glob", "root")),
    "grep_files": Words("search", "grep", ("pattern", "root")),
    "write_file": Words("edit", "write", ("path",)),
    "edit_file": Words("edit", "edit", ("path",)),
    "delete_file": Words("trash", "delete", ("path",)),
}

_TROUBLE = {
    "E_STALE": "stale, read again",
    "E_NOT_FOUND": "not found",
    "E_DENIED": "not allowed",
    "E_TIMEOUT": "took too long",
    "E_LOOP": "not run",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A long text cut for the page; ``note`` says what is missing, or nothing."""

    text: str
    note: str


def words_for(name: str) -> Words:
    """A tool that is not listed is called by its name."""
    return _WORDS.get(name, Words("box", one_line(name) or "call", ()))


def target_of(name: str, arguments: Mapping[str, Any]) -> str:
    """What the call acts on, in one line; of an unlisted tool its first short argument."""
    keys = words_for(name).target or tuple(arguments)[:1]
    return " · ".join(
        one_line(str(arguments[key]))[:300] for key in keys if arguments.get(key) not in (None, "")
    )


def trouble_of(code: str | None) -> str:
    """How a failed call is said in two or three words."""
    return _TROUBLE.get(code or "", "failed")


def cut(text: str, lines_shown: int = LINES_SHOWN, characters_shown: int = CHARACTERS_SHOWN) -> Shown:
    """The beginning of an output, without colours and control characters."""
    text = plain_output(text)
    lines = text.split("\n")
    shown = "\n".join(lines[:lines_shown])[:characters_shown]
    if len(shown) == len(text):
        return Shown(text, "")
    if len(lines) > lines_shown:
        return Shown(shown, f"first {shown.count(chr(10)) + 1:,} of {len(lines):,} lines shown")
    return Shown(shown, f"first {len(shown):,} of {len(text):,} characters shown")
