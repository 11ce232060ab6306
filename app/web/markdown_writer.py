"""Writes HTML from the parser's events, one top-level block at a time. Raw HTML is escaped, not passed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from app.web.highlight import highlight, language_of
from app.web.links import host_of, link_bare_addresses, misleads, open_link, safe_href

DEEPEST = 60
"""Levels of nesting that are drawn as such. Deeper text stays readable, only its indentation ends."""

_SIMPLE = {
    "Paragraph": ("<p>", "</p>\n"),
    "BlockQuote": ("<blockquote>\n", "</blockquote>\n"),
    "Item": ("<li>", "</li>\n"),
    "Emphasis": ("<em>", "</em>"),
    "Strong": ("<strong>", "</strong>"),
    "Strikethrough": ("<s>", "</s>"),
}
_TABLE_START = '<div class="scroll-x" role="group" aria-label="Table" tabindex="0"><table class="table">'
_SIDES = {"Center": ' class="middle"', "Right": ' class="end"'}

Ending = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block as HTML that is not yet clean."""

    kind: str
    """``CodeBlock``, ``Table``, ``Paragraph``, … as the parser calls it."""
    start: int
    """Byte at which its first line begins."""
    html: str


class Writer:
    """Takes the events of one text in order; ``blocks`` are those that have ended."""

    def __init__(self, source: str, coloured: int) -> None:
        self.blocks: list[Block] = []
        self._source = source.encode()
        self._coloured = coloured
        self._out: list[str] = []
        self._said: list[str] = []
        self._endings: list[Ending] = []
        self._kind, self._start = "", 0
        self._in_link = False
        self._sides: tuple[str, ...] = ()
        self._cells = 0
        self._cell = "td"

    def write(self, event: str | Mapping[str, Any], start: int) -> None:
        """One event of pyromark, and the byte at which it begins."""
        kind, value = (event, event) if isinstance(event, str) else next(iter(event.items()))
        if not self._endings:
            self._begin(kind, value, start)
        if kind == "Start":
            self._endings.append(self._element(*_tag(value)))
        elif kind == "End":
            self._endings.pop()()
        else:
            self._leaf(kind, value)
        if not self._endings:
            self.blocks.append(Block(self._kind, self._start, "".join(self._out)))
            self._out, self._said = [], []

    def _begin(self, kind: str, value: Any, start: int) -> None:
        self._kind = _tag(value)[0] if kind == "Start" else kind
        self._start = self._source.rfind(b"\n", 0, start) + 1

    def _leaf(self, kind: str, value: Any) -> None:
        match kind:
            case "Text" if not self._in_link:
                self._say(value, link_bare_addresses(value))
            case "Code":
                self._say(value, f"<code>{escape(value, quote=False)}</code>")
            case "TaskListMarker":
                self._say("\u2611 " if value else "\u2610 ")
            case "SoftBreak":
                self._say("\n")
            case "HardBreak":
                self._say("\n", "<br>\n")
            case "Rule":
                self._say("\n", "<hr>\n")
            case _:
                self._say(str(value))

    def _say(self, text: str, html: str | None = None) -> None:
        self._said.append(text)
        self._out.append(escape(text, quote=False) if html is None else html)

    def _element(self, name: str, data: Any) -> Ending:
        """Writes what begins an element and returns what ends it."""
        match name:
            case "CodeBlock":
                return self._code(data["Fenced"] if isinstance(data, Mapping) else "")
            case "HtmlBlock":
                return self._instead(lambda raw: f'<p class="raw">{escape(raw.rstrip(), quote=False)}</p>\n')
            case "Heading":
                level = data["level"].lower()
                return self._pair(f"<{level}>", f"</{level}>\n")
            case "Link":
                return self._link(data)
            case "Image":
                return self._instead(lambda alt: self._picture(alt, data["dest_url"]))
            case "Table" | "TableHead" | "TableRow" | "TableCell":
                return self._table(name, data)
            case _ if len(self._endings) > DEEPEST:
                return self._pair("", "\n")
            case "List":
                return self._pair(*_list_tags(data))
            case _:
                return self._pair(*_SIMPLE[name])

    def _pair(self, start: str, end: str) -> Ending:
        self._out.append(start)
        return lambda: self._out.append(end)

    def _instead(self, draw: Callable[[str], str]) -> Ending:
        """What stands inside is not written as such: its text goes to ``draw``."""
        written, said = len(self._out), len(self._said)

        def end() -> None:
            text = "".join(self._said[said:])
            del self._out[written:]
            self._out.append(draw(text))

        return end

    def _code(self, info: str) -> Ending:
        language = language_of(info)
        label = f' data-lang="{language}"' if language else ""
        start = f'<div class="code"{label}><pre tabindex="0"><code>'

        def draw(code: str) -> str:
            html = highlight(code, language) if len(code) <= self._coloured else escape(code, quote=False)
            return f"{start}{html}</code></pre></div>\n"

        return self._instead(draw)

    def _link(self, data: Mapping[str, str]) -> Ending:
        address = ("mailto:" if data["link_type"] == "Email" else "") + data["dest_url"]
        href, said = safe_href(address), len(self._said)
        self._out.append("" if href is None else open_link(href))
        self._in_link = True

        def end() -> None:
            self._in_link = False
            self._out.append("" if href is None else "</a>")
            if href is not None and misleads("".join(self._said[said:]), href):
                self._say(f" ({host_of(href)})", f' <span class="host">({host_of(href)})</span>')

        return end

    def _picture(self, alt: str, address: str) -> str:
        """Nothing is loaded: the description, and where the picture would come from."""
        href = safe_href(address)
        place = escape((host_of(address) if href else None) or "not shown", quote=False)
        if href and not self._in_link and not href.startswith("#"):
            place = f"{open_link(href)}{place}</a>"
        words = escape(alt, quote=False) or "Picture"
        return f'<span class="picture">{words} ({place})</span>'

    def _table(self, name: str, data: Any) -> Ending:
        match name:
            case "Table":
                self._sides = tuple(_SIDES.get(side, "") for side in data)
                return self._pair(_TABLE_START, "</tbody></table></div>\n")
            case "TableHead":
                self._cells, self._cell = 0, "th"
                return self._pair("<thead><tr>", "</tr></thead>\n<tbody>\n")
            case "TableRow":
                self._cells, self._cell = 0, "td"
                return self._pair("<tr>", "</tr>\n")
            case _:
                side = self._sides[self._cells] if self._cells < len(self._sides) else ""
                self._cells += 1
                scope = ' scope="col"' if self._cell == "th" else ""
                return self._pair(f"<{self._cell}{scope}{side}>", f"</{self._cell}>")


def _tag(value: str | Mapping[str, Any]) -> tuple[str, Any]:
    return (value, None) if isinstance(value, str) else next(iter(value.items()))


def _list_tags(first: int | None) -> tuple[str, str]:
    if first is None:
        return "<ul>\n", "</ul>\n"
    return (f'<ol start="{first}">\n' if first != 1 else "<ol>\n"), "</ol>\n"
