"""The text of a Word document: paragraphs and tables in their order, then what stands beside them.

Text that was struck out under revision, codes of fields and hidden text are left out; the last is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from app.hands.documents.document import Document, in_one_line, marker, row_of
from app.hands.documents.office_file import OfficeFile, attribute, find_child, is_on, name_of
from app.hands.text import number_of

_STYLE = re.compile(r"heading (?P<level>[1-6])|list\b.*", re.IGNORECASE)
"""Those that show in plain text; their names are English in every language, their ids are not."""
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT = {"pPr", "rPr", "Fallback", "del", "moveFrom", "rt"}
"""Settings, second versions for old programs, what was struck out, readings above a character."""


def read_word(file: OfficeFile, main: str) -> Document:
    """Raises what the XML parser likes, here and while it is read."""
    document = Document("Word document", "", iter(()))
    document.sections = _Reader(file, main, document).sections()
    return document


class _Reader:
    def __init__(self, file: OfficeFile, main: str, document: Document) -> None:
        self._file = file
        self._main = main
        self._document = document
        self._parts = [(each.kind, each.part) for each in file.relations(main)]
        self._styles = self._list_styles()
        self._hidden = False

    def sections(self) -> Iterator[str]:
        counts = Counter[str]()
        for element in self._file.children(self._main, "body"):
            counts[name_of(element)] += 1
            yield from self._blocks([element])
        self._document.size = _size(counts)
        beside = {f"{where}s": self._edges(where) for where in ("header", "footer")}
        beside |= {f"{kind}s": self._remarks(kind) for kind in ("footnote", "endnote", "comment")}
        for title, texts in beside.items():
            if texts:
                yield "\n".join((marker(title), *texts))
        if self._hidden:
            self._document.notes.append("hidden text is left out")

    def _edges(self, where: str) -> list[str]:
        """What stands above or below the pages, each text once."""
        parts = [self._file.root(part) for kind, part in self._parts if kind == where]
        texts = ("\n".join(self._blocks(root)) for root in parts)
        return [text for text in dict.fromkeys(texts) if text]

    def _remarks(self, kind: str) -> list[str]:
        found = []
        for part in (part for named, part in self._parts if named == f"{kind}s"):
            for each in self._file.root(part):
                text = in_one_line(" ".join(self._blocks(each)))
                if text and attribute(each, "type") in (None, "normal"):
                    author = attribute(each, "author")
                    found.append(f"[{author or attribute(each, 'id')}] {text}")
        return found

    def _blocks(self, elements: Element | list[Element]) -> Iterator[str]:
        for element in elements:
            match name_of(element):
                case "p":
                    if text := self._paragraph(element):
                        yield text
                case "tbl":
                    yield from self._rows(element)
                case name if name in _LEFT_OUT:
                    pass
                case _:
                    yield from self._blocks(list(element))

    def _rows(self, table: Element) -> Iterator[str]:
        for row in _inside(table, "tr"):
            cells = (" ".join(self._blocks(list(cell))) for cell in _inside(row, "tc"))
            yield row_of([in_one_line(cell) for cell in cells])

    def _paragraph(self, paragraph: Element) -> str:
        text = self._text(paragraph).strip("\n")
        if not text.strip():
            return ""
        style = find_child(paragraph, "pPr", "pStyle")
        sign = self._styles.get(attribute(style, "val") or "", "") if style is not None else ""
        if sign.startswith("#"):
            return f"{sign} {in_one_line(text)}"
        is_item = sign or find_child(paragraph, "pPr", "numPr") is not None
        return f"- {text}" if is_item else text

    def _text(self, element: Element) -> str:
        name = name_of(element)
        if name == "t":
            return element.text or ""
        if name in _SIGNS:
            return _SIGNS[name]
        if name in ("footnoteReference", "endnoteReference"):
            return f"[{attribute(element, 'id')}]"
        if name == "txbxContent":
            return "\n" + "\n".join(self._blocks(list(element))) + "\n"
        if name == "r" and is_on(find_child(element, "rPr", "vanish")):
            self._hidden = True
            return ""
        return "".join(self._text(child) for child in element if name_of(child) not in _LEFT_OUT)

    def _list_styles(self) -> dict[str, str]:
        """What a paragraph of a style begins with."""
        found = {}
        for part in (part for kind, part in self._parts if kind == "styles"):
            for style in self._file.root(part):
                named = find_child(style, "name")
                match = _STYLE.fullmatch(attribute(named, "val") or "") if named is not None else None
                if match:
                    found[attribute(style, "styleId") or ""] = "#" * int(match["level"] or 0) or "-"
        return found


def _size(counts: Counter[str]) -> str:
    said = {"paragraph": counts["p"], "table": counts["tbl"]}
    return ", ".join(number_of(count, thing) for thing, count in said.items() if count)


def _inside(element: Element, name: str) -> Iterator[Element]:
    """The nearest elements of that name, also through what is wrapped around them."""
    for child in element:
        if name_of(child) == name:
            yield child
        elif name_of(child) not in _LEFT_OUT and name_of(child) != "tc":
            yield from _inside(child, name)
