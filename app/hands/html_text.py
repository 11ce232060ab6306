"""The readable text of a page, as Markdown: what it is about, without menus and what is not shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from app.hands.html_tree import BLOCKS, Element, names

LEFT_OUT = "menus and what stands beside the text are left out"

_NEVER = names(
    "audio canvas embed head iframe input link meta noscript object script select style svg template textarea "
    "title video"
)
_NEVER_IN_TEXT = _NEVER | names("button")
"""A heading that opens and shuts what is below it is a button as well."""
_BESIDE = names("nav aside footer")
_ROLES_BESIDE = names("navigation complementary contentinfo banner search")
_ENOUGH = 200
"""Characters; a main part that holds less is none."""

_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.IGNORECASE
)
_MARKS = frozenset("¶#§🔗")
"""What a link says that leads to its own heading."""
_HEADING = re.compile(r"h[1-6]")
_SPACES = re.compile(r"[ \t\n\r\f]+")
_AROUND_BREAKS = re.compile(r" *\n *")


def title_of(page: Element) -> str:
    """What the page calls itself; empty where it has no name."""
    title = next((element for element in page.elements() if element.tag == "title"), None)
    return " ".join("".join(title.texts()).split()) if title else ""


def readable(page: Element, url: str) -> tuple[str, bool]:
    """The text, and whether something was left out that a reader would see."""
    base = next(
        (element.attributes.get("href", "") for element in page.elements() if element.tag == "base"), ""
    )
    url = _joined(url, base) or url
    main = _main_part(page)
    writer = _Writer(url, _BESIDE if main is page else names("nav"))
    text = writer.text(main)
    if len(text) < _ENOUGH:
        return _Writer(url, names("")).text(page), False
    return text, main is not page or writer.has_left_out


def _main_part(page: Element) -> Element:
    """What the page says is its main part; all of it where it says nothing, or names several."""
    for is_main in (_is_main, _is_article):
        found = [element for element in page.elements() if is_main(element) and not _is_hidden(element)]
        if len(found) == 1 and sum(map(len, found[0].texts())) >= _ENOUGH:
            return found[0]
    return page


def _is_main(element: Element) -> bool:
    return element.tag == "main" or element.attributes.get("role") == "main"


def _is_article(element: Element) -> bool:
    return element.tag == "article"


def _is_hidden(element: Element) -> bool:
    attributes = element.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(attributes.get("style", "")))
    )


class _Writer:
    """Writes one part of a page. Links are made whole with the address of the page."""

    def __init__(self, url: str, beside: frozenset[str]) -> None:
        self._url = url
        self._beside = beside
        self.has_left_out = False
        """Something stands beside the text, and was not written."""

    def text(self, part: Element) -> str:
        return "\n\n".join(self._blocks(part))

    def _blocks(self, parent: Element) -> list[str]:
        """What stands in an element, in pieces that each begin a line."""
        blocks: list[str] = []
        line: list[str] = []

        def end_line() -> None:
            text = _squeezed("".join(line))
            line.clear()
            if text:
                blocks.append(text)

        for child in self._shown(parent):
            if isinstance(child, str) or not _begins_line(child):
                line.append(self._inline(child))
            else:
                end_line()
                blocks += self._block(child)
        end_line()
        return blocks

    def _block(self, element: Element) -> list[str]:
        match element.tag:
            case "pre":
                return self._code(element)
            case "ul" | "ol" | "menu":
                return self._list(element)
            case "table":
                return self._table(element)
            case "hr":
                return ["---"]
            case "blockquote":
                return [_indented("\n\n".join(self._blocks(element)), "> ", "> ")] if element.children else []
            case "a":
                return [linked] if (linked := _squeezed(self._link(element))) else []
            case tag if _HEADING.fullmatch(tag):
                words = self._words(element)
                return [f"{'#' * int(tag[1])} {words}"] if words else []
            case _:
                return self._blocks(element)

    def _inline(self, part: Element | str) -> str:
        if isinstance(part, str):
            return _SPACES.sub(" ", part)
        match part.tag:
            case "br":
                return "\n"
            case "img":
                described = _squeezed(part.attributes.get("alt", ""))
                return f"[picture: {described}]" if described else ""
            case "a":
                return self._link(part)
            case "code" | "kbd" | "samp" if words := _squeezed("".join(_code_texts(part))):
                return f"`{words}`"
            case _:
                words = "".join(map(self._inline, self._shown(part)))
                return f" {words} " if _begins_line(part) else words

    def _words(self, element: Element) -> str:
        """All its text on one line."""
        return _squeezed("".join(map(self._inline, self._shown(element)))).replace("\n", " ")

    def _link(self, element: Element) -> str:
        words = "".join(map(self._inline, self._shown(element)))
        shown = _squeezed(words).replace("\n", " ")
        place = _joined(self._url, element.attributes.get("href", ""))
        if not shown or not place:
            return "" if shown in _MARKS else words
        before, after = (" " if words[:1].isspace() else ""), (" " if words[-1:].isspace() else "")
        return f"{before}[{shown}]({place}){after}"

    def _code(self, element: Element) -> list[str]:
        code = "".join(_code_texts(element)).strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
        return [f"{fence}\n{code}\n{fence}"] if code.strip() else []

    def _list(self, element: Element) -> list[str]:
        items: list[str] = []
        for child in self._shown(element):
            inside = self._blocks(child) if isinstance(child, Element) else []
            if inside:
                mark = f"{len(items) + 1}. " if element.tag == "ol" else "- "
                items.append(_indented("\n".join(inside), mark, " " * len(mark)))
        return ["\n".join(items)] if items else []

    def _table(self, table: Element) -> list[str]:
        blocks = list(self._captions(table))
        rows = list(self._rows(table))
        if any(cell.holds_block for row in rows for cell in row) or all(len(row) < 2 for row in rows):
            return blocks + [block for row in rows for cell in row for block in self._blocks(cell)]
        lines = [f"| {' | '.join(map(self._cell, row))} |" for row in rows]
        if all(cell.tag == "th" for cell in rows[0]):
            lines.insert(1, f"|{'---|' * len(rows[0])}")
        return [*blocks, "\n".join(lines)]

    def _captions(self, table: Element) -> Iterator[str]:
        for caption in self._parts(table, names("caption")):
            yield from self._blocks(caption)

    def _rows(self, table: Element) -> Iterator[list[Element]]:
        """The cells of each row that has any."""
        for part in self._parts(table, names("tr thead tbody tfoot")):
            for row in [part] if part.tag == "tr" else self._parts(part, names("tr")):
                cells = list(self._parts(row, names("td th")))
                if cells:
                    yield cells

    def _cell(self, cell: Element) -> str:
        return " ".join(self._blocks(cell)).replace("\n", " ").replace("|", "\\|")

    def _parts(self, parent: Element, tags: frozenset[str]) -> Iterator[Element]:
        for child in self._shown(parent):
            if isinstance(child, Element) and child.tag in tags:
                yield child

    def _shown(self, parent: Element) -> Iterator[Element | str]:
        never = _NEVER if _HEADING.fullmatch(parent.tag) else _NEVER_IN_TEXT
        for child in parent.children:
            if isinstance(child, str) or not (
                child.tag in never or _is_hidden(child) or self._leaves_out(child)
            ):
                yield child

    def _leaves_out(self, element: Element) -> bool:
        role = element.attributes.get("role")
        is_beside = element.tag in self._beside or (bool(self._beside) and role in _ROLES_BESIDE)
        self.has_left_out |= is_beside
        return is_beside


def _begins_line(element: Element) -> bool:
    return element.tag in BLOCKS or element.holds_block


def _code_texts(element: Element) -> Iterator[str]:
    """Code as it stands."""
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif child.tag == "br":
            yield "\n"
        elif child.tag not in _NEVER and not _is_hidden(child):
            yield from _code_texts(child)


def _joined(url: str, place: str) -> str | None:
    """A place on the web that a link names; None where it is on the same page, or no place."""
    place = place.strip()
    if not place or place.startswith("#"):
        return None
    try:
        whole = urljoin(url, place)
    except ValueError:
        return None
    whole = _SPACES.sub("%20", whole).replace("(", "%28").replace(")", "%29")
    return whole if whole.startswith(("http://", "https://", "mailto:")) else None


def _squeezed(text: str) -> str:
    return _AROUND_BREAKS.sub("\n", re.sub(" {2,}", " ", text.replace("\u00a0", " "))).strip()


def _indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    return "\n".join([f"{first}{lines[0]}", *(f"{others}{line}".rstrip() for line in lines[1:])])
