"""Word documents: what a reader sees, in its order; what was struck out or hidden is not part of it."""

from __future__ import annotations

from typing import Any

import pytest

from app.hands.documents.child import extract
from tests.hands.documents.samples import body, changed, notes_of, raw_word, text_of, word


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def test_paragraphs_headings_and_lists_come_in_their_order() -> None:
    def write(document: Any) -> None:
        document.add_heading("Piano", 1)
        document.add_heading("Costi", 2)
        document.add_paragraph("Due\trighe\ndi testo: è €.")
        document.add_paragraph("")
        document.add_paragraph("uno", style="List Bullet")
        document.add_paragraph("due", style="List Number")

    data = word(write)
    assert text_of(data).splitlines() == [
        "# Piano",
        "## Costi",
        "Due\trighe",
        "di testo: è €.",
        "- uno",
        "- due",
    ]
    told, _ = extract(data)
    assert (told["kind"], told["size"], told["notes"]) == ("Word document", "6 paragraphs", [])


def test_a_table_is_rows_of_cells_in_its_place() -> None:
    def write(document: Any) -> None:
        document.add_paragraph("before")
        table = document.add_table(2, 2)
        for number, name in enumerate("abcd"):
            table.cell(number // 2, number % 2).text = name
        table.cell(0, 0).add_paragraph("second line")
        inner = table.cell(1, 1).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "side"
        document.add_paragraph("after")

    data = word(write)
    assert text_of(data).splitlines() == ["before", "a second line | b", "c | d in | side", "after"]
    assert extract(data)[0]["size"] == "2 paragraphs, 1 table"


def test_headers_footers_and_comments_stand_behind_the_text_each_once() -> None:
    def write(document: Any) -> None:
        paragraph = document.add_paragraph("text")
        document.add_comment(paragraph.runs, text="Check this.", author="Ada")
        document.add_section()
        for section in document.sections:
            section.header.is_linked_to_previous = False
            section.header.paragraphs[0].text = "Confidential"
            section.footer.is_linked_to_previous = False
            section.footer.paragraphs[0].text = "ACME"

    assert text_of(word(write)).splitlines() == [
        "text",
        "--- headers ---",
        "Confidential",
        "--- footers ---",
        "ACME",
        "--- comments ---",
        "[Ada] Check this.",
    ]


def test_a_footnote_is_found_by_its_number() -> None:
    notes = (
        body(
            '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:footnote>'
            f'<w:footnote w:id="2"><w:p>{run("See page 4.")}</w:p></w:footnote>'
        )
        .replace(b"<w:body>", b"")
        .replace(b"</w:body>", b"")
    )
    relations = (
        b'<Relationships xmlns="x"><Relationship Id="a" Type="http://x/footnotes" Target="footnotes.xml"/>'
        b"</Relationships>"
    )
    data = raw_word(
        body(f'<w:p>{run("text")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'),
        **{"word/footnotes.xml": notes, "word/_rels/document.xml.rels": relations},
    )
    assert text_of(data).splitlines() == ["text[2]", "--- footnotes ---", "[2] See page 4."]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"<w:ins>{run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "new"),
        (f"<w:moveFrom>{run('from')}</w:moveFrom><w:moveTo>{run('to')}</w:moveTo>", "to"),
        (f"<w:hyperlink>{run('link')}</w:hyperlink>", "link"),
        (f"<w:sdt><w:sdtContent>{run('field')}</w:sdtContent></w:sdt>", "field"),
        (f"<w:r><w:instrText>DATE</w:instrText></w:r>{run('2026')}", "2026"),
        (f"{run('a')}<w:r><w:noBreakHyphen/><w:tab/></w:r>{run('b')}", "a-\tb"),
        (run("gone", "<w:vanish/>") + run("there", '<w:vanish w:val="0"/>'), "there"),
        (
            f"<w:r><x:AlternateContent xmlns:x='m'><x:Choice><w:txbxContent><w:p>{run('box')}</w:p>"
            f"</w:txbxContent></x:Choice><x:Fallback><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent>"
            "</x:Fallback></x:AlternateContent></w:r>",
            "box",
        ),
    ],
)
def test_of_a_paragraph_what_a_reader_sees_is_taken(inside: str, text: str) -> None:
    assert text_of(raw_word(body(f"<w:p>{inside}</w:p>"))) == text


def test_a_block_inside_a_control_is_read() -> None:
    inside = f"<w:sdt><w:sdtPr/><w:sdtContent><w:p>{run('inside')}</w:p></w:sdtContent></w:sdt>"
    assert text_of(raw_word(body(inside))) == "inside"


def test_hidden_text_is_said_and_not_shown() -> None:
    data = raw_word(body(f"<w:p>{run('SECRET', '<w:vanish/>')}{run('open')}</w:p>"))
    assert text_of(data) == "open"
    assert notes_of(data) == ["hidden text is left out"]


def test_the_strict_variant_is_read_like_the_usual_one() -> None:
    def strict(name: str, part: bytes) -> bytes:
        return part.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        ).replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        )

    assert text_of(changed(word(lambda document: document.add_heading("Piano", 1)), strict)) == "# Piano"


def test_macros_are_left_out_and_said() -> None:
    data = changed(
        word(lambda document: document.add_paragraph("text")),
        lambda name, part: part,
        **{"word/vbaProject.bin": b"Shell"},
    )
    assert text_of(data) == "text"
    assert notes_of(data) == ["its macros are left out and were not run"]
