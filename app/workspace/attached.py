"""The files that the user sends with a message: how its row holds them, what they are called, how big they may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LARGEST_FILE = 25_000_000
"""Bytes of one file."""

MOST_FILES = 20
"""With one message."""

LARGEST_TOGETHER = 100_000_000
"""Bytes of all files of one message."""

_LONGEST_NAME = 150
"""Bytes of a name in UTF-8: as a file name it has room everywhere, and a path with it can be read."""

_LONGEST_SUFFIX = 20

_UNFIT = frozenset('<>"`')
"""What could end the place of a name in a text for a model."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that was sent; the same one wherever the message goes."""

    path: str
    """Below the data folder: ``attachments/CONVERSATION/ID/NAME``."""
    size: int
    """Bytes."""
    picture: str = ""
    """What a model is shown of a picture, as an image's ``ref``; empty for every other file."""

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def id(self) -> str:
        return Path(self.path).parent.name


def attachments_of(data: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """Those of a message, or of one that waits, from the ``data`` of its row."""
    return read_attachments(data.get("attachments") or ())


def read_attachments(stored: Iterable[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    return tuple(Attachment(str(one["path"]), int(one["size"]), str(one["picture"])) for one in stored)


def with_attachments(data: Mapping[str, Any], files: Sequence[Attachment]) -> dict[str, Any]:
    """The ``data`` of a row that has these; without any, as it was."""
    return {**data, "attachments": [asdict(one) for one in files]} if files else dict(data)


def clean_name(given: str) -> str:
    """The last part of what a browser calls a file, as one line that any file system takes.

    Nothing of it can be taken for a path, and nothing in it ends a line or turns letters round.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    signs = "".join(_fit(sign) for sign in last)
    name = " ".join(signs.split()).rstrip(". ")
    return _short(name) if name.strip(".") else "file"


def size_in_words(size: int) -> str:
    """``812 bytes``, ``18 kB``, ``1.2 MB``"""
    if size < 1_000:
        return "1 byte" if size == 1 else f"{size} bytes"
    value, unit = (size / 1_000, "kB") if size < 999_500 else (size / 1_000_000, "MB")
    return f"{value:.1f} {unit}".replace(".0 ", " ") if value < 10 else f"{value:.0f} {unit}"


def unfit(name: str, size: int) -> str:
    """Why a file cannot go with any message, in a sentence; nothing where it can."""
    if not size:
        return f"{name} is empty: there is nothing in it to send."
    if size > LARGEST_FILE:
        return f"{name} is {size_in_words(size)}; the limit is {size_in_words(LARGEST_FILE)}."
    return ""


def too_much(files: Sequence[Attachment]) -> str:
    """Why these cannot go with one message, in a sentence; nothing where they can."""
    together = sum(one.size for one in files)
    if len(files) > MOST_FILES:
        return f"{len(files)} files are too many for one message; it takes {MOST_FILES}. Send some of them after it."
    if together > LARGEST_TOGETHER:
        return (
            f"The files are {size_in_words(together)} together; one message takes {size_in_words(LARGEST_TOGETHER)}. "
            "Send some of them after it."
        )
    return ""


def _fit(sign: str) -> str:
    category = unicodedata.category(sign)
    if category[0] == "Z":
        return " "
    if category in ("Cf", "Cs"):
        return ""
    return "_" if category[0] == "C" or sign in _UNFIT else sign


def _short(name: str) -> str:
    """Cut in its middle, so that it still tells its type."""
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix.encode()) > _LONGEST_SUFFIX:
        stem, dot, suffix = name, "", ""
    room = _LONGEST_NAME - len((dot + suffix).encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip() + dot + suffix
