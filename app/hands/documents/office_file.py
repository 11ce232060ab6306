"""A file of an office program: a ZIP archive of XML parts that name each other. Only what was checked is unpacked.

Names are compared without their namespaces: the same elements go by two sets of them.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from app.hands.documents.document import Unreadable

MOST_PARTS = 20_000
MOST_XML = 512 * 1024 * 1024
"""Bytes that all XML parts may have when they are unpacked; pictures and films stay packed."""
_HEAD = 65_536


@dataclass(frozen=True, slots=True)
class Relation:
    """That a part names another one."""

    id: str
    kind: str
    """The last word of its address: ``slide``, ``header``."""
    part: str


class OfficeFile:
    """Raises ``Unreadable`` for what had better not be unpacked, ``zipfile.BadZipFile`` for what cannot be."""

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self.parts = frozenset(self._archive.namelist())
        self._check(self._archive.infolist())

    @property
    def has_macros(self) -> bool:
        return any(posixpath.basename(part).casefold() == "vbaproject.bin" for part in self.parts)

    def main(self) -> str | None:
        """The part that the others belong to; None where this is no office file."""
        return next((each.part for each in self.relations("") if each.kind == "officeDocument"), None)

    def root(self, part: str) -> Element:
        """A whole part, for one of bounded size."""
        with self._archive.open(part) as stream:
            return ElementTree.parse(stream).getroot()

    def root_name(self, part: str) -> str:
        """The name of its outermost element."""
        with self._archive.open(part) as stream:
            for _, element in ElementTree.iterparse(stream, ("start",)):
                return name_of(element)
        return ""

    def children(self, part: str, above: str) -> Iterator[Element]:
        """The elements directly below those called ``above``, one at a time; each is forgotten after its turn."""
        path: list[Element] = []
        with self._archive.open(part) as stream:
            for event, element in ElementTree.iterparse(stream, ("start", "end")):
                if event == "start":
                    path.append(element)
                    continue
                path.pop()
                if path and name_of(path[-1]) == above:
                    yield element
                    path[-1].clear()

    def relations(self, part: str) -> list[Relation]:
        """What a part names inside the file, in its order; ``""`` is the file itself."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        if listed not in self.parts:
            return []
        found = []
        for each in self.root(listed):
            if each.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/")
                kind = each.get("Type", "").rpartition("/")[2]
                if target in self.parts:
                    found.append(Relation(each.get("Id", ""), kind, target))
        return found

    def _check(self, infos: list[zipfile.ZipInfo]) -> None:
        xml = [info for info in infos if info.filename.casefold().endswith((".xml", ".rels", ".vml"))]
        if len(infos) > MOST_PARTS or sum(info.file_size for info in xml) > MOST_XML:
            raise Unreadable("unpacks to more than is safe to open. Ask the user what it holds.")
        if any(info.flag_bits & 1 for info in infos):
            raise Unreadable("is locked with a password. Ask the user for a copy without one.")
        for info in xml:
            with self._archive.open(info) as stream:
                _refuse_doctype(stream)


def name_of(element: Element) -> str:
    """Without its namespace."""
    return str(element.tag).rpartition("}")[2]


def find_child(element: Element, *names: str) -> Element | None:
    """The first child of the first name, below it the first one of the second name, and so on."""
    found: Element | None = element
    for name in names:
        found = (
            next((child for child in found if name_of(child) == name), None) if found is not None else None
        )
    return found


def attribute(element: Element, name: str) -> str | None:
    """An attribute, whatever namespace it is in."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), None)


def is_on(element: Element | None) -> bool:
    """Whether a switch is there and not turned off."""
    return element is not None and attribute(element, "val") not in ("0", "false", "off", "none")


def _refuse_doctype(stream: IO[bytes]) -> None:
    """No office program writes a document type, and one can blow up a few bytes to gigabytes."""

    def refuse(*_: object) -> None:
        raise Unreadable("declares a document type, which no office program does. Do not trust it.")

    def enough(*_: object) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = enough
    try:
        while piece := stream.read(_HEAD):
            parser.Parse(piece)
    except _Begun:
        pass
    except expat.ExpatError:
        pass  # whoever reads it says so, if it is read at all


class _Begun(Exception):
    """The outermost element is reached: no document type comes after it."""
