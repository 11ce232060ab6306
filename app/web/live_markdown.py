"""Markdown that is still being written: what has ended is rendered once, only the open end is drawn again.

Borders between blocks are decided on complete lines alone, because half a line can still become a heading, a
table or the end of a fence. Of the open end only the new part is sent wherever the old part stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.web.fence import OpenFence, end_of_fence
from app.web.growth import growth
from app.web.long_texts import LONGEST
from app.web.markdown import clean, read_blocks, render_markdown
from app.web.plain import plain

COLOURED = 1_500
"""Characters of a code block that is coloured at once; a longer one gets its colours at the end."""


@dataclass(frozen=True, slots=True)
class Swap:
    """HTML and where it goes: ``before`` the tail, once; instead of all in the ``tail``; or at the ``end`` of the
    element found by going ``depth`` times from the tail to its last child."""

    place: Literal["before", "tail", "end"]
    html: Markup
    depth: int = 0


class LiveMarkdown:
    """One message while it streams. ``closed`` and ``tail`` together are what a reader sees now."""

    def __init__(self) -> None:
        self.closed: list[Markup] = []
        """The blocks that have ended. A reader who has drawn n of them needs ``closed[n:]`` and the tail."""
        self._said: list[str] = []
        self._room = LONGEST
        self._held = ""
        self._open = ""
        self._drawn = ""
        self._fence: OpenFence | None = None
        self._in_table = False

    @property
    def tail(self) -> Markup:
        return self._fence.html if self._fence else clean(self._drawn)

    @property
    def html(self) -> Markup:
        return Markup("").join((*self.closed, self.tail))

    @property
    def is_full(self) -> bool:
        """More has been said than is drawn of a text that grows."""
        return self._room < 0

    def feed(self, text: str) -> tuple[Swap, ...]:
        """Takes the next piece of text; returns what changes on a page that shows all before it, in order."""
        text = self._take(text)
        if not text:
            return ()
        self._open += text
        if self._fence and (more := self._fence.add(text)) is not None:
            return (Swap("end", more, depth=3),) if more else ()
        return () if self._in_table and "\n" not in text else self._redraw()

    def finish(self) -> Markup:
        """The normal rendering of the whole text, in which references to later definitions are links too."""
        return render_markdown("".join(self._said) + self._held)

    def _take(self, text: str) -> str:
        """A carriage return waits for its line feed: the pair is one line end."""
        taken, self._room = text[: max(self._room, 0)], self._room - len(text)
        text = self._held + taken
        self._held = "\r" if text.endswith("\r") else ""
        text = plain(text.removesuffix("\r"))
        self._said.append(text)
        return text

    def _redraw(self) -> tuple[Swap, ...]:
        was_fence, drawn = self._fence is not None, self._drawn
        closed = self._draw()
        if not (closed or was_fence or self._fence):
            added = growth(drawn, self._drawn)
            if added is not None:
                return tuple(Swap("end", _clean_in_place(piece.html), piece.depth) for piece in added)
        tail = Swap("tail", self.tail)
        return (Swap("before", Markup("").join(closed)), tail) if closed else (tail,)

    def _draw(self) -> list[Markup]:
        """Renders the open text and returns those of its blocks that have ended by now."""
        # A row of a table appears when its line has ended; half a row would move its cells about.
        blocks, closed = read_blocks(self._complete_lines() if self._in_table else self._open, COLOURED), []
        if len(blocks) > 1 or (blocks and blocks[0].kind == "CodeBlock"):
            closed = self._close_ended()
            blocks = read_blocks(self._open, COLOURED) if closed else blocks
        self._fence = OpenFence.at(self._open) if blocks and blocks[0].kind == "CodeBlock" else None
        self._in_table = bool(blocks) and blocks[-1].kind == "Table"
        self._drawn = "".join(block.html for block in blocks)
        return closed

    def _complete_lines(self) -> str:
        return self._open[: self._open.rfind("\n") + 1]

    def _close_ended(self) -> list[Markup]:
        ready = self._complete_lines()
        blocks = read_blocks(ready, COLOURED)
        if not blocks:
            return []
        cut = blocks[-1].start
        last = ready.encode()[cut:].decode()
        if blocks[-1].kind == "CodeBlock" and (end := end_of_fence(last)) is not None:
            cut += len(last[:end].encode())
        else:
            blocks.pop()
        ended = [clean(block.html) for block in blocks]
        self.closed += ended
        self._open = self._open.encode()[cut:].decode()
        return ended


def _clean_in_place(html: str) -> Markup:
    """Rows of a table survive the cleaner only inside one."""
    if not html.lstrip().startswith("<tr>"):
        return clean(html)
    start, end = "<table><tbody>", "</tbody></table>"
    return Markup(clean(start + html + end).removeprefix(start).removesuffix(end))
