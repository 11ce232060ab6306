"""A quick reader of our own well-formed HTML: a tree whose elements keep their identity while it is changed.

It refuses what is not well-formed instead of repairing it. What it makes of a page is compared with what html5lib
makes of it in ``test_live_page.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
EXACT = frozenset({"pre", "textarea"})
_BLANKS = re.compile(r"[ \t\n\f\r]+")


@dataclass(eq=False, slots=True)
class Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)
    parent: Element | None = None

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if isinstance(child, Element)]

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def walk(self) -> Iterator[Element]:
        """Itself and every element below, in document order."""
        ahead = [self]
        while ahead:
            element = ahead.pop()
            yield element
            ahead += [child for child in reversed(element.children) if isinstance(child, Element)]

    def find(self, id: str) -> Element | None:
        return next((each for each in self.walk() if each.id == id), None)

    def all(self, tag: str) -> list[Element]:
        return [each for each in self.walk() if each.tag == tag]

    def put(self, at: int, nodes: list[Element | str]) -> None:
        """Insert before the child at that place."""
        for node in nodes:
            if isinstance(node, Element):
                node.parent = self
        self.children[at:at] = nodes

    def replace_children(self, nodes: list[Element | str]) -> None:
        self.children = []
        self.put(0, nodes)

    @property
    def place(self) -> int:
        """Its number among the children of its parent."""
        assert self.parent is not None
        return next(at for at, child in enumerate(self.parent.children) if child is self)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self._open = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, parent=self._open)
        assert len(element.attributes) == len(attrs), f"an attribute stands twice in <{tag}>"
        self._open.children.append(element)
        if tag not in VOID:
            self._open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self._open.tag == tag, f"<{self._open.tag}> is closed by </{tag}>"
        assert self._open.parent is not None
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        inside = self._open
        if inside.tag in EXACT and not inside.children:
            data = data.removeprefix("\n")
        if inside.children and isinstance(inside.children[-1], str):
            inside.children[-1] += data
        elif data:
            inside.children.append(data)

    def finish(self) -> Element:
        self.close()
        assert self._open is self.root, f"<{self._open.tag}> is never closed"
        return self.root


def read_tree(html: str) -> Element:
    """A document or a part of one, below a root without a name. Refuses what is not well-formed."""
    builder = _Builder()
    builder.feed(html)
    return builder.finish()


def written(root: Element, *, ignored: frozenset[str], emptied: frozenset[str]) -> list[str]:
    """One line for each tag and text, blanks between tags left out; text that is shown as typed stays as it is.

    Left out are the attributes of the names ``ignored``, and what is inside the elements of the ids ``emptied``.
    """
    lines: list[str] = []

    def write(element: Element, exact: bool) -> None:
        names = sorted(name for name in element.attributes if name not in ignored)
        attributes = "".join(f' {name}="{element.attributes[name]}"' for name in names)
        exact = exact or is_exact(element)
        lines.append(f"<{element.tag}{attributes}>")
        for child in joined(element.children) if element.id not in emptied else ():
            if isinstance(child, Element):
                write(child, exact)
            elif exact:
                lines.append(repr(child))
            elif text := _BLANKS.sub(" ", child).strip():
                lines.append(text)
        lines.append(f"</{element.tag}>")

    write(root, False)
    return lines


def is_exact(element: Element) -> bool:
    classes = element.attributes.get("class", "").split()
    return element.tag in EXACT or "data-part" in element.attributes or "as-typed" in classes


def joined(children: list[Element | str]) -> list[Element | str]:
    """The children with neighbouring texts in one piece, empty ones left out."""
    found: list[Element | str] = []
    for child in children:
        if isinstance(child, str) and found and isinstance(found[-1], str):
            found[-1] += child
        elif child != "":
            found.append(child)
    return found
