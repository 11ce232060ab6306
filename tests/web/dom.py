"""HTML as a browser would read it, and the tokens of ``xss_cases.tsv`` checked on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from xml.etree.ElementTree import Element

from html5lib import HTMLParser, getTreeBuilder

ADDRESSES = {
    "action",
    "background",
    "cite",
    "data",
    "formaction",
    "href",
    "ping",
    "poster",
    "src",
    "srcset",
    "xlink:href",
}
LOADS = {"background", "data", "manifest", "ping", "poster", "src", "srcset", "style"}
LOADERS = {"audio", "base", "embed", "iframe", "img", "link", "object", "script", "source", "video"}

Tree = tuple[str, tuple[tuple[str, str], ...], tuple["Tree | str", ...]]


def read(html: str) -> Element:
    """The elements of a fragment, below one root."""
    parser = HTMLParser(tree=getTreeBuilder("etree"), namespaceHTMLElements=False)
    fragment = parser.parseFragment(html, container="div")
    root = Element("root")
    root.text = fragment.text
    root.extend(fragment)
    return root


def elements(root: Element) -> Iterator[Element]:
    """Every element below the root."""
    return (each for each in root.iter() if each is not root and isinstance(each.tag, str))


def text_of(root: Element) -> str:
    return "".join(root.itertext())


def shape(root: Element) -> Tree:
    """The tree as a value that can be compared: text joined, blanks between blocks left out."""
    inside: list[Tree | str] = [root.text or ""]
    for child in root:
        inside += [shape(child), child.tail or ""]
    blank = root.tag in ("root", "ul", "ol", "table", "thead", "tbody", "tr", "blockquote", "div", "li")
    kept = tuple(
        each for each in inside if each and not (blank and isinstance(each, str) and not each.strip())
    )
    return str(root.tag), tuple(sorted(root.attrib.items())), kept


def present(token: str, root: Element) -> bool:
    """Whether a forbidden thing is in the tree: ``tag:NAME``, ``attr:GLOB``, ``scheme:NAME``, ``remote``."""
    kind, _, name = token.partition(":")
    match kind:
        case "tag":
            return any(each.tag == name for each in elements(root))
        case "attr":
            return any(fnmatchcase(key, name) for each in elements(root) for key in each.attrib)
        case "scheme":
            return any(_scheme(value) == name for value in _addresses(root))
        case "remote":
            return any(_loads_something(each) for each in elements(root))
        case _:
            raise AssertionError(f"unknown token {token!r}")


def holds(token: str, root: Element) -> bool:
    """Whether a wanted thing is there; also ``text:…``, ``attr:TAG.NAME=VALUE``, ``attr:TAG.NAME~TOKEN``."""
    kind, _, rest = token.partition(":")
    if kind == "text":
        return rest in text_of(root)
    found = re.fullmatch(r"(\w+)\.([\w-]+)([=~])(.*)", rest) if kind == "attr" else None
    if found is None:
        return present(token, root)
    tag, name, sign, value = found.groups()
    given = [each.get(name, "") for each in elements(root) if each.tag == tag]
    return any(value == each if sign == "=" else value in each.split() for each in given)


def _addresses(root: Element) -> Iterator[str]:
    return (value for each in elements(root) for key, value in each.attrib.items() if key in ADDRESSES)


def _scheme(address: str) -> str:
    """As a browser finds it: control characters and blanks inside do not count."""
    found = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", re.sub(r"[\x00-\x20\x7f-\x9f]", "", address))
    return found.group(1).lower() if found else ""


def _loads_something(element: Element) -> bool:
    return element.tag in LOADERS or any(key in LOADS for key in element.attrib)
