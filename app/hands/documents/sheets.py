"""The cells of an Excel workbook, sheet by sheet: values as they were last computed, with their formulas."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.hands.documents.document import Document, in_one_line, marker, row_of
from app.hands.text import number_of

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

MOST_ROWS = 20_000
MOST_COLUMNS = 200
MOST_SHEETS = 500
LONGEST_TITLE = 100
"""Characters; a program that makes workbooks allows 31."""


def read_sheets(data: bytes) -> Document:
    """Raises ``ModuleNotFoundError`` and what the library likes, here and while it is read."""
    from openpyxl import load_workbook

    formulas, values = (
        load_workbook(io.BytesIO(data), read_only=True, data_only=computed, keep_links=False)
        for computed in (False, True)
    )
    pairs = list(zip(formulas.worksheets, values.worksheets, strict=True))
    document = Document("Excel workbook", number_of(len(pairs), "sheet"), iter(()))
    document.sections = _sheets(pairs, document.notes)
    return document


def _sheets(pairs: list[tuple[ReadOnlyWorksheet, ReadOnlyWorksheet]], notes: list[str]) -> Iterator[str]:
    for number, (sheet, computed) in enumerate(pairs[:MOST_SHEETS], 1):
        state = "" if sheet.sheet_state == "visible" else ", hidden"
        yield marker(
            f'sheet {number:,} of {len(pairs):,}, "{in_one_line(sheet.title)[:LONGEST_TITLE]}"{state}'
        )
        yield from _rows(sheet, computed, notes)
    if hidden := sum(sheet.sheet_state != "visible" for sheet, _ in pairs):
        notes.append(f"{number_of(hidden, 'sheet')} hidden")
    if len(pairs) > MOST_SHEETS:
        notes.append(f"only the first {MOST_SHEETS:,} sheets are read")


def _rows(sheet: ReadOnlyWorksheet, computed: ReadOnlyWorksheet, notes: list[str]) -> Iterator[str]:
    """Rows with something in them, each behind its number; above the first as wide as it is, its columns' letters."""
    for each in (sheet, computed):
        each.reset_dimensions()  # they are what the file claims
    widest, too_wide = 0, False
    for number, (cells, values) in enumerate(
        zip(sheet.iter_rows(values_only=True), computed.iter_rows(values_only=True), strict=False), 1
    ):
        if number > MOST_ROWS:
            yield f"[Cut: of this sheet only the first {MOST_ROWS:,} rows are read.]"
            notes.append("not all rows are read")
            break
        too_wide |= any(cell is not None for cell in cells[MOST_COLUMNS:])
        shown = _filled([_cell(*pair) for pair in zip(cells[:MOST_COLUMNS], values, strict=False)])
        if len(shown) > widest:
            widest = len(shown)
            yield _letters(widest)
        if shown:
            yield row_of([str(number), *shown])
    if too_wide:
        yield f"[Cut: of this sheet only the first {MOST_COLUMNS} columns are read.]"
        notes.append("not all columns are read")


def _letters(columns: int) -> str:
    from openpyxl.utils import get_column_letter

    return row_of(["row", *(get_column_letter(column) for column in range(1, columns + 1))])


def _filled(cells: list[str]) -> list[str]:
    """Without the empty ones at the end."""
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _cell(written: Any, value: Any) -> str:
    """What a person sees in a cell, and behind it the formula that it comes from."""
    formula = _formula(written)
    if formula is None or written == value:  # a text may begin with = too
        return _said(value)
    return f"{_said(value) or 'not computed'} [{in_one_line(formula)}]"


def _formula(written: Any) -> str | None:
    text = getattr(written, "text", written)  # one of an array stands in an object of its own
    return text if isinstance(text, str) and text.startswith("=") else None


def _said(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float():
            return f"{value:.15g}"
        case datetime.datetime():
            return value.isoformat(" ").removesuffix(" 00:00:00")
        case _:
            return in_one_line(str(value))
