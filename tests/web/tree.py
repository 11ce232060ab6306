"""A quick reader of our own well-formed HTML: a tree whose elements keep their identity while it is changed.

It refuses what is not well-formed instead of repairing it. What it makes of a page is compared with what html5lib
makes of it in ``test_live_page.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
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
        yield self
        for child in self.elements:
            yield from child.walk()

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
    """A document or a part of one, below a root without a name. Raises ``AssertionError`` where it is not well-formed."""
    builder = _Builder()
    builder.feed(html)
    return builder.finish()


def written(element: Element, *, ignored: frozenset[str] = frozenset(), exact: bool = False) -> Iterator[str]:
    """One line for each tag and text, blanks between tags left out; text that is shown as typed stays as it is."""
    attributes = "".join(
        f' {name}="{value}"' for name, value in sorted(element.attributes.items()) if name not in ignored
    )
    exact = exact or is_exact(element)
    yield f"<{element.tag}{attributes}>"
    for text_or_element in joined(element.children):
        if isinstance(text_or_element, Element):
            yield from written(text_or_element, ignored=ignored, exact=exact)
        elif exact:
            yield repr(text_or_element)
        elif text := _BLANKS.sub(" ", text_or_element).strip():
            yield text
    yield f"</{element.tag}>"


def is_exact(element: Element) -> bool:
    classes = element.attributes.get("class", "").split()
    return element.tag in EXACT or "data-part" in element.attributes or "as-typed" in classes


def joined(children: list[Element | str]) -> Iterator[Element | str]:
    """The children with neighbouring texts in one piece, empty ones left out."""
    text = ""
    for child in children:
        if isinstance(child, str):
            text += child
            continue
        if text:
            yield text
        text = ""
        yield child
    if text:
        yield text
