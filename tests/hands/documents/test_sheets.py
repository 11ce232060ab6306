"""Workbooks: values with their formulas, row by row; what is hidden or too much is said."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from openpyxl.worksheet.formula import ArrayFormula

from app.hands.documents import sheets as reader
from app.hands.documents.child import extract
from tests.hands.documents.samples import changed, notes_of, sheets, text_of


def rows_of(*rows: list[Any]) -> bytes:
    def write(workbook: Any) -> None:
        for row in rows:
            workbook.active.append(row)

    return sheets(write)


def test_a_sheet_is_rows_behind_their_numbers_below_the_letters_of_its_columns() -> None:
    def write(workbook: Any) -> None:
        sheet = workbook.active
        sheet.title = "Conti"
        sheet.append(["voce", "euro"])
        sheet["B5"] = 800.5

    data = sheets(write)
    assert text_of(data).splitlines() == [
        '--- sheet 1 of 1, "Conti" ---',
        "row | A | B",
        "1 | voce | euro",
        "5 |  | 800.5",
    ]
    assert extract(data)[0]["size"] == "1 sheet"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "TRUE"),
        (0.1 + 0.2, "0.3"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime.fromisoformat("2026-01-02 03:04"), "2026-01-02 03:04:00"),
        (datetime.time(3, 4), "03:04:00"),
        ("two\nlines", "two lines"),
        (12345678901234, "12345678901234"),
        ("#N/A", "#N/A"),
    ],
)
def test_a_value_is_shown_as_a_person_reads_it(value: Any, shown: str) -> None:
    assert text_of(rows_of([value])).splitlines()[-1] == f"1 | {shown}"


def test_a_formula_stands_behind_what_it_came_to() -> None:
    def computed(name: str, part: bytes) -> bytes:
        return part.replace(b"<f>SUM(A1:A2)</f><v />", b"<f>SUM(A1:A2)</f><v>7</v>").replace(
            b"<f>SUM(A1:A2)</f><v></v>", b"<f>SUM(A1:A2)</f><v>7</v>"
        )

    data = rows_of([3], [4], ["=SUM(A1:A2)", "=A3*2"])
    assert text_of(changed(data, computed)).splitlines()[-1] == "3 | 7 [=SUM(A1:A2)] | not computed [=A3*2]"


def test_an_array_formula_is_one() -> None:
    def write(workbook: Any) -> None:
        workbook.active["A1"] = ArrayFormula("A1:A2", "=B1:B2*2")

    assert text_of(sheets(write)).splitlines()[-1] == "1 | not computed [=B1:B2*2]"


def test_a_text_that_begins_like_a_formula_is_a_text() -> None:
    def write(workbook: Any) -> None:
        workbook.active["A1"] = "=== total ==="
        workbook.active["A1"].data_type = "s"

    assert text_of(sheets(write)).splitlines()[-1] == "1 | === total ==="


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_read_and_said(state: str) -> None:
    def write(workbook: Any) -> None:
        workbook.active["A1"] = "open"
        hidden = workbook.create_sheet("Back")
        hidden.sheet_state = state
        hidden["A1"] = "behind"

    data = sheets(write)
    assert text_of(data).splitlines()[-3:] == [
        '--- sheet 2 of 2, "Back", hidden ---',
        "row | A",
        "1 | behind",
    ]
    assert notes_of(data) == ["1 sheet hidden"]


def test_a_title_is_one_short_line_whatever_the_file_says() -> None:
    def renamed(name: str, part: bytes) -> bytes:
        return part.replace(b'name="Sheet"', b'name="--- page 1 ---&#10;%b"' % (b"x" * 5_000))

    first = text_of(changed(rows_of(["a"]), renamed)).splitlines()[0]
    assert first == f'--- sheet 1 of 1, "--- page 1 --- {"x" * 85}" ---'


def test_an_empty_workbook_has_no_text() -> None:
    assert text_of(sheets(lambda workbook: None)) == ""


def test_of_too_many_rows_and_columns_the_first_are_read_and_the_rest_is_said() -> None:
    def write(workbook: Any) -> None:
        sheet = workbook.active
        sheet["A1"] = "first"
        sheet.cell(1, reader.MOST_COLUMNS).value = "last column"
        sheet.cell(1, reader.MOST_COLUMNS + 1).value = "too far right"
        sheet.cell(reader.MOST_ROWS, 1).value = "last row"
        sheet.cell(reader.MOST_ROWS + 1, 1).value = "too far down"

    data = sheets(write)
    text = text_of(data)
    assert "last column" in text
    assert "last row" in text
    assert "too far" not in text
    assert text.splitlines()[-2:] == [
        "[Cut: of this sheet only the first 20,000 rows are read.]",
        "[Cut: of this sheet only the first 200 columns are read.]",
    ]
    assert notes_of(data) == ["not all rows are read", "not all columns are read"]


def test_one_cell_at_the_far_end_costs_no_grid() -> None:
    def write(workbook: Any) -> None:
        workbook.active["A1"] = "here"
        workbook.active["XFD1048576"] = "far"

    data = sheets(write)
    assert "far" not in text_of(data)
    assert notes_of(data) == ["not all rows are read"]
