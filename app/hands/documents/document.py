"""What a reader of documents gives, and how it says no."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.hands.errors import HandsError


@dataclass(slots=True)
class Document:
    """A document whose text is taken out while ``sections`` is walked."""

    kind: str
    """``PDF document``, for people."""
    size: str
    """``12 pages``; complete once the sections are read."""
    sections: Iterator[str]
    """Each without a line end at its end; pages, slides and sheets begin with a line of ``marker``."""
    notes: list[str] = field(default_factory=list)
    """What the text leaves out. Complete once the sections are read."""


class Unreadable(HandsError):
    """Why a document is not read, and what to do: a sentence that goes on after its name."""


class OutOfTime(BaseException):
    """No processor time is left. Nothing that only means to catch the errors of a decoder may catch it."""


def marker(what: str) -> str:
    """The line in front of a page, a slide, a sheet."""
    return f"--- {what} ---"


def is_marker(section: str) -> bool:
    """Whether a section is nothing but such a line."""
    return "\n" not in section and section.startswith("--- ") and section.endswith(" ---")


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def row_of(cells: list[str]) -> str:
    """A row of a table."""
    return " | ".join(cells).rstrip()
