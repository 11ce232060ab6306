"""A change as people read it: lines with + and -, or a sentence where there are none to show."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from typing import assert_never

from app.hands.permissions.names import shown
from app.hands.text import decode, find_kind, number_of, printable
from app.hands.undo.values import Change, Contents, Entry, File, Folder, Link, Unheld, Why

SHOWN_BYTES = 512 * 1024
SHOWN_LINES = 10_000
"""Of each side; a longer text is not compared."""

WHY: dict[Why, str] = {
    "budget": "the workspace is larger than what undo keeps of it",
    "changing": "it kept changing while it was read",
    "closed": "it is closed to tools",
    "history": "it is a version history, which undo leaves alone",
    "large": "it is too large",
    "special": "it is a pipe, socket or device",
    "unreadable": "the system does not let Plancia read it",
}


@dataclass(frozen=True, slots=True)
class TextDiff:
    """``lines`` in unified form, without file names; none where ``note`` says what is to be said."""

    lines: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    note: str = ""


def text_diff(change: Change, read: Callable[[bytes], bytes]) -> TextDiff:
    """``read`` gives the content of a digest. Raises what it raises."""
    before, after = change.before, change.after
    if isinstance(before, File) and isinstance(after, File) and before.content == after.content:
        return TextDiff(note=f"mode {before.mode:o} → {after.mode:o}")
    if not isinstance(before, File | None) or not isinstance(after, File | None):
        return TextDiff(note=f"{in_words(before)} → {in_words(after)}")
    try:
        return _compared(_lines(before, read), _lines(after, read))
    except _NotShown as reason:
        return TextDiff(note=f"{reason}: {in_words(before)} → {in_words(after)}")


def left_out(contents: Contents) -> tuple[str, ...]:
    """What a snapshot does not hold, one sentence a path."""
    return tuple(
        f"{shown(path)} is not kept: {WHY[entry.why]}."
        for path, entry in sorted(contents.items())
        if isinstance(entry, Unheld)
    )


def in_words(entry: Entry | None) -> str:
    match entry:
        case None:
            return "nothing"
        case File(size=size):
            return f"a file of {number_of(size, 'byte')}"
        case Link(target=target):
            return f"a link to {shown(os.fsdecode(target))}"
        case Folder(mode=mode):
            return f"a folder, mode {mode:o}"
        case Unheld(why=why):
            return f"not kept ({WHY[why]})"
        case _:
            assert_never(entry)


class _NotShown(Exception):
    """Why a side is not compared."""


def _lines(file: File | None, read: Callable[[bytes], bytes]) -> list[str]:
    if file is None:
        return []
    if file.size > SHOWN_BYTES:
        raise _NotShown("too large to be compared")
    data = read(file.content)
    decoded = decode(data)
    if decoded is None:
        raise _NotShown(find_kind(data) or "binary data")
    lines = printable(decoded.text).split("\n")
    if len(lines) > SHOWN_LINES:
        raise _NotShown("too long to be compared")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _compared(before: list[str], after: list[str]) -> TextDiff:
    lines: list[str] = []
    for line in islice(unified_diff(before, after), 2, None):
        lines.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            lines.append("\\ no line end after the last line")
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return TextDiff(tuple(lines), added, removed, "" if lines else "empty")
