"""Small real documents, made by libraries that write them, and hostile ones made by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import docx
import openpyxl
import pptx
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from app.hands.documents.child import extract

_TYPES = (
    b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    b'<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_RELATIONS = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    b'Target="word/document.xml"/></Relationships>'
)


def word(write: Callable[[Any], object]) -> bytes:
    document = docx.Document()
    write(document)
    return _saved(document)


def slides(write: Callable[[Any], object]) -> bytes:
    presentation = pptx.Presentation()
    write(presentation)
    return _saved(presentation)


def sheets(write: Callable[[Any], object]) -> bytes:
    workbook = openpyxl.Workbook()
    write(workbook)
    return _saved(workbook)


def pdf(*pages: str, password: str | None = None, for_all: bool = False, **content: bytes) -> bytes:
    """A page for each text, which may be empty; ``for_all``: locked against changes, not against reading."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
            NameObject("/Encoding"): NameObject("/WinAnsiEncoding"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        lines = b" ".join(b"(%b) ' " % line.encode("latin-1") for line in text.splitlines())
        stream.set_data(content.get("stream") or b"BT /F1 12 Tf 14 TL 10 280 Td %b ET" % lines)
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if password is not None:
        writer.encrypt("" if for_all else password, password, algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def archive(parts: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return target.getvalue()


def raw_word(document: bytes, **more: bytes) -> bytes:
    """A Word document with just this main part."""
    parts = {"[Content_Types].xml": _TYPES, "_rels/.rels": _RELATIONS, "word/document.xml": document}
    return archive({**parts, **more})


def body(inside: str) -> bytes:
    """The main part of a Word document."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return f'<w:document xmlns:w="{space}"><w:body>{inside}</w:body></w:document>'.encode()


def changed(data: bytes, change: Callable[[str, bytes], bytes | None], **more: bytes) -> bytes:
    """An archive with other parts; None takes one out."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        parts = {name: change(name, file.read(name)) for name in file.namelist()}
    return archive({**{name: part for name, part in parts.items() if part is not None}, **more})


def text_of(data: bytes) -> str:
    return extract(data)[1].decode()


def notes_of(data: bytes) -> list[str]:
    told = extract(data)[0]
    return list(told["notes"])


def _saved(document: Any) -> bytes:
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()
