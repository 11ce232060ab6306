"""A page that is open in a browser, without a browser: loaded once, then changed by the frames of its stream.

What htmx 4 does with an event of the stream, and what ``static/js/entries.js`` adds, as far as our frames use it:
every ``hx-partial`` finds its target before anything is swapped; one without a target is passed over; a morph keeps
the elements whose ids stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.web.tree import Element, read_tree, written

OF_THE_READER = frozenset({"open", "data-htmx-powered", "hx-sse:connect"})
"""Attributes that say nothing about the conversation: what is unfolded, and where this page joined the stream."""

ANNOUNCED = frozenset({"sr-status"})
"""Said once for a screen reader; a page that is loaded has nothing to announce."""


@dataclass(frozen=True, slots=True)
class Message:
    """One event of a stream, as the parser of the browser hands it over."""

    id: str
    name: str
    data: str


def read_messages(stream: str) -> list[Message]:
    """Whole messages; what follows the last blank line is not one yet."""
    return [
        message for block in stream.replace("\r\n", "\n").split("\n\n")[:-1] for message in _message(block)
    ]


def _message(block: str) -> list[Message]:
    fields: dict[str, list[str]] = {}
    for line in re.split(r"[\r\n]", block):
        name, _, value = line.partition(":")
        if name:
            fields.setdefault(name, []).append(value.removeprefix(" "))
    if "data" not in fields and "event" not in fields:
        return []
    last = {name: values[-1] for name, values in fields.items()}
    return [Message(last.get("id", ""), last.get("event", ""), "\n".join(fields.get("data", [])))]


class LivePage:
    """A page as it was loaded, and what became of it."""

    def __init__(self, html: str) -> None:
        self.document = read_tree(html)
        self.cursor = self.stream_address.partition("after=")[2]
        self.applied: list[str] = []
        """The ids of the frames, in the order in which they came."""

    @staticmethod
    def parsed(html: str) -> Element:
        """A page without a stream, or a part of one."""
        return read_tree(html)

    @property
    def stream_address(self) -> str:
        return self.element("bus").attributes["hx-sse:connect"]

    def element(self, id: str) -> Element:
        found = self.document.find(id)
        assert found is not None, f"there is no #{id}"
        return found

    @property
    def articles(self) -> list[Element]:
        return self.element("log").all("article")

    def take(self, message: Message) -> None:
        """Apply one event of the stream; a named one changes nothing here."""
        if message.name:
            return
        if message.id:
            assert message.id not in self.applied, f"{message.id} came twice"
            self.cursor = message.id
            self.applied.append(message.id)
        self.swap(message.data)

    def swap(self, html: str) -> None:
        """What htmx does with the body of an event, or with an answer whose swap is ``none``."""
        partials = []
        for node in read_tree(html).children:
            if isinstance(node, str):
                assert not node.strip(), f"text outside of a partial: {node!r}"
            elif node.tag == "title":
                self.document.all("title")[0].replace_children(node.children)
            else:
                assert node.tag == "hx-partial", f"<{node.tag}> outside of a partial"
                partials.append(node)
        found = [(self._target(each.attributes["hx-target"]), each) for each in partials]
        for target, partial in found:
            if target is not None:
                self._swap(target, partial.attributes["hx-swap"], partial.children)
        self._check_ids()

    def shown(self) -> list[str]:
        """What the page shows, line by line, to be compared with another."""
        body = self.document.all("body")[0]
        head = self.document.all("title")[0].text
        return [head, *written(body, ignored=OF_THE_READER, emptied=ANNOUNCED)]

    def _target(self, selector: str) -> Element | None:
        """``#id``, then any number of `` > :last-child``."""
        first, *steps = selector.split(" > ")
        assert first.startswith("#")
        found = self.document.find(first[1:])
        for step in steps:
            assert step == ":last-child"
            found = found.elements[-1] if found and found.elements else None
        return found

    def _swap(self, target: Element, style: str, content: list[Element | str]) -> None:
        match style:
            case "beforeend":
                target.put(len(target.children), content)
            case "beforebegin":
                assert target.parent is not None
                target.parent.put(target.place, content)
            case "innerMorph":
                _morph_children(target, content)
            case "outerMorph":
                _morph(target, content)
            case "outerHTML":
                _replace(target, content)
            case "textContent":
                target.replace_children(
                    ["".join(each if isinstance(each, str) else each.text for each in content)]
                )
            case "delete":
                _replace(target, [])
            case "entry":
                for element in [each for each in content if isinstance(each, Element)]:
                    self._entry(target, element)
            case _:
                raise AssertionError(f"unknown swap style {style}")

    def _entry(self, target: Element, element: Element) -> None:
        present = self.document.find(element.id) if element.id else None
        if present is None:
            target.put(len(target.children), [element])
        else:
            _morph(present, [element])

    def _check_ids(self) -> None:
        ids = [element.id for element in self.document.walk() if element.id]
        twice = {id for id in ids if ids.count(id) > 1} if len(ids) != len(set(ids)) else ()
        assert not twice, f"these ids stand twice: {twice}"


def _replace(target: Element, content: list[Element | str]) -> None:
    parent, place = target.parent, target.place
    assert parent is not None
    del parent.children[place]
    target.parent = None
    parent.put(place, content)


def _morph(target: Element, content: list[Element | str]) -> None:
    """The target becomes the content; where an element of it has the target's name, the target stays."""
    known = {element.id: element for element in target.walk() if element.id}
    _replace(target, _become(content, known))


def _morph_children(target: Element, content: list[Element | str]) -> None:
    known = {element.id: element for element in target.walk() if element.id and element is not target}
    target.replace_children(_become(content, known))


def _become(content: list[Element | str], known: dict[str, Element]) -> list[Element | str]:
    """The content, with elements that were there before, under the same id and tag, in place of new ones."""
    return [node if isinstance(node, str) else _become_one(node, known) for node in content]


def _become_one(new: Element, known: dict[str, Element]) -> Element:
    children = _become(new.children, known)
    old = known.get(new.id) if new.id else None
    if old is None or old.tag != new.tag:
        new.replace_children(children)
        return new
    stays = {name: value for name, value in old.attributes.items() if name in ("open", "data-htmx-powered")}
    old.attributes = {**new.attributes, **stays}
    old.replace_children(children)
    return old
