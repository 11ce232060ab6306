"""HTML as a tree, as far as its text needs it: what is not closed is closed, what is too deep becomes flat. Pure.

Made on the tokeniser of the standard library, in time and memory that grow with the page: the rules by which browsers
repair a page let a small one grow without a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

DEEPEST = 150
"""Of elements in each other; far above any page that was written by people, far below what recursion can take."""


def names(words: str) -> frozenset[str]:
    """Names of elements, written with spaces between them."""
    return frozenset(words.split())


VOID = names("area base br col embed hr img input link meta param source track wbr")
BLOCKS = names(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search "
    "section summary table tbody td tfoot th thead tr ul"
)

_ROWS = names("thead tbody tfoot")
_CELLS = names("td th")
_TERMS = names("dt dd")
_SINGLE = names("li option tr")
_WALLS = names("table td th li dd blockquote div section article main button")
_CLOSES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (names("li"), names("ul ol menu")),
    "option": (names("option"), names("select datalist")),
    "tr": (names("tr"), names("table")),
    **dict.fromkeys(_TERMS, (_TERMS, names("dl"))),
    **dict.fromkeys(_CELLS, (_CELLS, names("tr table"))),
    **dict.fromkeys(_ROWS, (_ROWS, names("table"))),
    **dict.fromkeys(BLOCKS - _SINGLE - _TERMS - _CELLS - _ROWS, (names("p"), _WALLS)),
}
"""What the beginning of an element ends, and beyond which elements it does not."""

_NOTHING = (names(""), names(""))


@dataclass(slots=True, eq=False)
class Element:
    """One element. Names are lower case; a text between its children is a ``str``."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)
    holds_block: bool = False
    """Something in it begins a line of its own."""

    def has_class(self, name: str) -> bool:
        return name in self.attributes.get("class", "").split()

    def elements(self) -> Iterator[Element]:
        """All that stand in it, in the order of the page."""
        waiting = [child for child in reversed(self.children) if isinstance(child, Element)]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += [child for child in reversed(element.children) if isinstance(child, Element)]

    def texts(self) -> Iterator[str]:
        """All the text that stands in it, whether it is shown or not."""
        waiting: list[Element | str] = [self]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                yield part
            else:
                waiting += reversed(part.children)


def tree_of(html: str) -> Element:
    """The page below one element without a name."""
    growing = _Growing()
    growing.feed(html)
    growing.end()
    return growing.root


class _Growing(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_what_this_ends(tag)
        element = Element(tag, {name: value or "" for name, value in reversed(attrs)})
        self._open[-1].children.append(element)
        if tag in BLOCKS:
            self._tell_around()
        if tag not in VOID and len(self._open) < DEEPEST:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # the stroke at the end means nothing in HTML

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].tag == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def end(self) -> None:
        """A text at the end is held back until something follows it; ``close`` would look at a broken end for ever."""
        if self.rawdata and not self.rawdata.startswith("<"):
            self.handle_data(unescape(self.rawdata))

    def _end_what_this_ends(self, tag: str) -> None:
        closed, walls = _CLOSES.get(tag, _NOTHING)
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].tag in closed:
                del self._open[place:]
                return
            if self._open[place].tag in walls:
                return

    def _tell_around(self) -> None:
        for element in reversed(self._open):
            if element.holds_block:
                return
            element.holds_block = True
