"""The text of a PowerPoint presentation: each slide in the order of the show, its tables, and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from app.hands.documents.document import Document, in_one_line, marker, row_of
from app.hands.documents.office_file import OfficeFile, find_child, name_of
from app.hands.text import number_of

_TITLES = {"title", "ctrTitle"}
_OF_EVERY_PAGE = {"sldNum", "dt", "ftr", "hdr", "sldImg"}
"""Number, date, header and footer of a page, and the picture of the slide above its notes."""
_SIGNS = {"br": "\n", "tab": "\t"}


def read_slides(file: OfficeFile, main: str) -> Document:
    """Raises what the XML parser likes, here and while it is read."""
    parts = {each.id: each.part for each in file.relations(main)}
    shown = find_child(file.root(main), "sldIdLst")
    ids = [_relation_id(each) for each in shown] if shown is not None else []
    slides = [parts[each] for each in ids if each in parts]
    document = Document("PowerPoint presentation", number_of(len(slides), "slide"), iter(()))
    document.sections = _slides(file, slides, document.notes)
    return document


def _slides(file: OfficeFile, slides: list[str], notes: list[str]) -> Iterator[str]:
    hidden = 0
    for number, part in enumerate(slides, 1):
        slide = file.root(part)
        is_hidden = slide.get("show") in ("0", "false")
        hidden += is_hidden
        where = f"slide {number:,} of {len(slides):,}" + (", hidden" if is_hidden else "")
        yield "\n".join((marker(where), *_texts(slide), *_spoken(file, part)))
    if hidden:
        notes.append(f"{number_of(hidden, 'slide')} hidden in the show")


def _spoken(file: OfficeFile, slide: str) -> Iterator[str]:
    for each in file.relations(slide):
        if each.kind == "notesSlide" and (texts := list(_texts(file.root(each.part)))):
            yield "\n".join(("Notes:", *texts))


def _texts(element: Element) -> Iterator[str]:
    """What stands in the shapes below ``element``, in their order."""
    for child in element:
        match name_of(child):
            case "sp":
                yield from _shape(child)
            case "tbl":
                yield from _rows(child)
            case "Fallback":
                pass  # the same again, for old programs
            case _:
                yield from _texts(child)


def _shape(shape: Element) -> Iterator[str]:
    holder = find_child(shape, "nvSpPr", "nvPr", "ph")
    role = holder.get("type") if holder is not None else None
    body = find_child(shape, "txBody")
    if body is None or role in _OF_EVERY_PAGE:
        return
    texts = list(_paragraphs(body))
    if role in _TITLES and texts:
        yield f"# {in_one_line(' '.join(texts))}"
    else:
        yield from texts


def _rows(table: Element) -> Iterator[str]:
    for row in (child for child in table if name_of(child) == "tr"):
        cells = [find_child(cell, "txBody") for cell in row if name_of(cell) == "tc"]
        yield row_of([in_one_line(" ".join(_paragraphs(cell))) if cell is not None else "" for cell in cells])


def _paragraphs(body: Element) -> Iterator[str]:
    for paragraph in (child for child in body if name_of(child) == "p"):
        pieces = [
            _SIGNS.get(name_of(each)) or (each.text or "" if name_of(each) == "t" else "")
            for each in paragraph.iter()
        ]
        if text := "".join(pieces).strip():
            yield text


def _relation_id(element: Element) -> str:
    """``r:id``, which stands beside an ``id`` that means something else."""
    return next((value for key, value in element.items() if key.endswith("}id")), "")
