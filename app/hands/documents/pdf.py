"""The text of a PDF, page by page."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.hands.documents.document import Document, Unreadable, marker
from app.hands.text import number_of

if TYPE_CHECKING:
    from pypdf import PdfReader


def read_pdf(data: bytes) -> Document:
    """Raises ``Unreadable``, ``ModuleNotFoundError``, and what the library likes."""
    from pypdf import PasswordType, PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
        raise Unreadable("is locked with a password. Ask the user for a copy without one.")
    count = len(reader.pages)
    document = Document("PDF document", number_of(count, "page"), iter(()))
    document.sections = _pages(reader, count, document.notes)
    return document


def _pages(reader: PdfReader, count: int, notes: list[str]) -> Iterator[str]:
    empty, broken = [], []
    for number in range(1, count + 1):
        try:
            text = reader.pages[number - 1].extract_text().strip()
        except Exception:  # noqa: BLE001 - one page may hold anything; the others can still be read
            text = ""
            broken.append(number)
        else:
            if not text:
                empty.append(number)
        yield "\n".join(filter(None, (marker(f"page {number:,} of {count:,}"), text)))
    if empty:
        notes.append(f"no text on {_named(empty)}, perhaps pictures of text (a scan)")
    if broken:
        notes.append(f"{_named(broken)} cannot be read")


def _named(pages: list[int]) -> str:
    """``page 3``, ``pages 1-4, 7``."""
    spans: list[list[int]] = []
    for page in pages:
        if spans and spans[-1][-1] == page - 1:
            spans[-1][-1] = page
        else:
            spans.append([page, page])
    said = ", ".join(f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in spans[:20])
    return f"page{'' if len(pages) == 1 else 's'} {said}{' and more' if len(spans) > 20 else ''}"
