"""PDF: text page by page; locked, scanned and broken ones are told apart."""

from __future__ import annotations

import pytest

from app.hands.documents.child import extract
from tests.hands.documents.samples import notes_of, pdf, text_of


def test_each_page_begins_with_its_number() -> None:
    data = pdf("Hello world\nsecond line", "Perché no")
    assert text_of(data).splitlines() == [
        "--- page 1 of 2 ---",
        "Hello world",
        "second line",
        "--- page 2 of 2 ---",
        "Perché no",
    ]
    assert extract(data)[0] == {"kind": "PDF document", "size": "2 pages", "notes": []}


def test_one_without_text_says_that_it_may_be_a_scan() -> None:
    data = pdf("", "")
    assert text_of(data) == ""
    assert notes_of(data) == ["no text on pages 1-2, perhaps pictures of text (a scan)"]


def test_pages_without_text_among_others_are_named() -> None:
    assert notes_of(pdf("one", "", "three", "", "")) == [
        "no text on pages 2, 4-5, perhaps pictures of text (a scan)"
    ]


def test_one_that_wants_a_password_is_told() -> None:
    told, text = extract(pdf("secret", password="pw"))
    assert told == {"unreadable": "is locked with a password. Ask the user for a copy without one."}
    assert text == b""


def test_one_that_is_only_locked_against_changes_is_read() -> None:
    assert "open" in text_of(pdf("open", password="owner", for_all=True))


def test_a_page_that_cannot_be_read_costs_no_other() -> None:
    data = pdf("one", "two", "three").replace(
        b"BT /F1 12 Tf 14 TL 10 280 Td (two)", b"BT /F1 12 Tf 14 TL 10 280 [[(two)"
    )
    text = text_of(data)
    assert "one" in text
    assert "three" in text


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\n%%EOF", pdf("text")[:200]])
def test_a_broken_one_has_no_text(data: bytes) -> None:
    with pytest.raises(Exception, match=r"."):  # the library's own
        extract(data)
