"""An article that is still being written, as its readers have it: text, thinking, and what its tool has said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.web.live_markdown import LiveMarkdown
from app.web.long_texts import LONGEST
from app.web.plain import plain
from app.web.terminal import Terminal


@dataclass(slots=True)
class Thought:
    """Thinking as plain text, of one that is too long its beginning.

    A carriage return waits for the line feed that may belong to it.
    """

    text: str = ""
    held: str = ""

    def feed(self, pieces: Iterable[str]) -> str:
        """Takes the next pieces; returns what a reader who has all before them has to add."""
        more = self.held + "".join(pieces)
        self.held = "\r" if more.endswith("\r") else ""
        more = plain(more.removesuffix("\r"))[: LONGEST - len(self.text)]
        self.text += more
        return more


@dataclass(slots=True)
class GrowingEntry:
    """All that has been drawn of one article."""

    markdown: LiveMarkdown = field(default_factory=LiveMarkdown)
    thought: Thought = field(default_factory=Thought)
    screen: Terminal = field(default_factory=Terminal)
    """What its tool has said while it runs."""
