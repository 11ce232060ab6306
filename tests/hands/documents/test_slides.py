"""Presentations: slides in the order of the show, with tables, groups and notes; hidden ones are said."""

from __future__ import annotations

from typing import Any

from pptx.util import Inches

from app.hands.documents.child import extract
from tests.hands.documents.samples import slides, text_of


def write(presentation: Any) -> None:
    first = presentation.slides.add_slide(presentation.slide_layouts[1])
    first.shapes.title.text = "Piano\v2026"
    first.placeholders[1].text = "uno\ndue"
    first.notes_slide.notes_text_frame.text = "Say hello."
    second = presentation.slides.add_slide(presentation.slide_layouts[6])
    second._element.set("show", "0")
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(2)).table
    table.cell(0, 0).text, table.cell(0, 1).text, table.cell(1, 1).text = "a", "b", "d"
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in a group"


def test_each_slide_has_its_title_its_text_and_its_notes() -> None:
    assert text_of(slides(write)).splitlines() == [
        "--- slide 1 of 2 ---",
        "# Piano 2026",
        "uno",
        "due",
        "Notes:",
        "Say hello.",
        "--- slide 2 of 2, hidden ---",
        "a | b",
        " | d",
        "in a group",
    ]


def test_it_says_how_many_there_are_and_that_one_is_hidden() -> None:
    told, _ = extract(slides(write))
    assert told == {
        "kind": "PowerPoint presentation",
        "size": "2 slides",
        "notes": ["1 slide hidden in the show"],
    }


def test_the_order_is_that_of_the_show_and_not_that_of_the_files() -> None:
    def turned(presentation: Any) -> None:
        for title in ("one", "two"):
            presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = title
        listed = presentation.slides._sldIdLst
        listed.insert(0, listed[1])

    assert [line for line in text_of(slides(turned)).splitlines() if line[0] == "#"] == ["# two", "# one"]


def test_one_without_a_word_has_no_text() -> None:
    data = slides(lambda presentation: presentation.slides.add_slide(presentation.slide_layouts[6]))
    assert text_of(data) == ""
