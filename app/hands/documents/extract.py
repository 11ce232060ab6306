"""Documents that tools read: their text, taken out in a program of its own and kept while it is read on in."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from app.hands.errors import Refused
from app.hands.ledger import SHOWN_HASH, content_hash
from app.hands.limits import DOCUMENT_CHARACTERS, DOCUMENT_SECONDS, DOCUMENTS_KEPT
from app.hands.opening import EXTRA, folder_of, opened
from app.hands.text import number_of, printable
from app.hands.threads import in_thread
from app.hands.view import Range, view_text

_LIBRARIES = ("pypdf", "openpyxl")
_STARTS = (b"%PDF-", b"PK\x03\x04")
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST = 4 * DOCUMENT_CHARACTERS + 1_000_000
"""Bytes of an answer: no character takes more than four."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a document, and facts about it for the first line of a view."""

    text: str
    facts: tuple[str, ...]


def may_be_document(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a document, or of an archive that may be one."""
    return head.startswith((*_STARTS, _OLD))


class Documents:
    """The documents of one run."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Extracted] = OrderedDict()

    async def read(self, data: bytes, label: str, seconds: float = DOCUMENT_SECONDS) -> Extracted | None:
        """Its text, which may be empty; None where it is no document after all.

        Raises ``Refused`` for one that cannot be read, and where the extra ``documents`` is not installed.
        """
        key = await in_thread(lambda check_stop: content_hash(data))
        found = self._kept.pop(key, None) or await _extract(data, label, seconds)
        if found is not None:
            self._kept[key] = found
            if len(self._kept) > DOCUMENTS_KEPT:
                self._kept.popitem(last=False)
        return found


def view_document(label: str, data: bytes, found: Extracted, wanted: Range | None) -> str:
    """What a model is shown. Raises ``Refused`` for a range behind the end."""
    facts = [*found.facts, number_of(len(data), "byte"), f"hash {content_hash(data)[:SHOWN_HASH]}"]
    if not found.text:
        return f"[{label}: {', '.join(facts)}. No text was found in it.]"
    return view_text(label, found.text, ["text taken out of it, not to be edited", *facts], wanted)


async def _extract(data: bytes, label: str, seconds: float) -> Extracted | None:
    if data.startswith(_OLD):
        if _LOCKED not in data:
            return None
        raise Refused("E_FAILED", f"{label} is locked with a password. Ask the user for a copy without one.")
    folders = dict.fromkeys(folder for library in _LIBRARIES if (folder := folder_of(library)))
    told, text = await opened(
        "app.hands.documents.child", list(folders), data, label=label, seconds=seconds, most=_MOST
    )
    return _understood(told, text, label)


def _understood(told: Any, text: bytes, label: str) -> Extracted | None:
    match told:
        case {"kind": str(kind), "size": str(size), "notes": [*notes]}:
            return Extracted(
                printable(text.decode(errors="replace")), tuple(filter(None, (kind, size, *notes)))
            )
        case {"unknown": True}:
            return None
        case {"missing": library}:
            raise Refused(
                "E_FAILED",
                f"{label} is a document, and what reads it ({library}) is not installed here. "
                f"Ask the user to run: {EXTRA}",
            )
        case {"unreadable": why}:
            raise Refused("E_FAILED", f"{label} {why}")
        case {"failed": why}:
            raise Refused(
                "E_FAILED", f"{label} cannot be read as a document: {why}. Ask the user for another copy."
            )
        case _:
            raise Refused(
                "E_FAILED",
                f"{label} cannot be read: it takes more time or memory than it may. Ask the user for a part of it.",
            )
