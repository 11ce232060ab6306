"""Taking the text out of a document: bounded in time and length, and what is missing is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.hands.children import of_ours
from app.hands.documents.child import extract
from app.hands.opening import folder_of
from tests.hands.documents.samples import archive, body, pdf, raw_word

ROOT = Path(__file__).parents[3]
PARAGRAPH = "<w:p><w:r><w:t>text</w:t></w:r></w:p>"


def styles(inside: bytes) -> dict[str, bytes]:
    relations = b'<R><r Id="s" Type="x/styles" Target="styles.xml"/></R>'
    return {"word/_rels/document.xml.rels": relations, "word/styles.xml": b"<styles>%b</styles>" % inside}


def run(data: bytes) -> bytes:
    folder = folder_of("pypdf")
    assert folder is not None
    command = of_ours("app.hands.documents.child", folder)
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def extract_within(seconds: float, data: bytes) -> tuple[dict[str, Any], str]:
    """In a process of its own, as ever: in this one the clock could strike in a finalizer of pytest."""
    code = (
        "import json, sys; from app.hands.documents.child import extract; "
        f"told, text = extract(sys.stdin.buffer.read(), seconds={seconds}); print(json.dumps([told, text.decode()]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True, cwd=ROOT)
    told, text = json.loads(ran.stdout)
    return told, text


def test_as_a_program_it_gives_one_line_of_facts_and_the_text_behind_it() -> None:
    told, _, text = run(pdf("Hello")).partition(b"\n")
    assert told == b'{"kind": "PDF document", "size": "1 page", "notes": []}'
    assert text == b"--- page 1 of 1 ---\nHello"


def test_as_a_program_it_has_no_more_memory_than_it_may() -> None:
    told = run(raw_word(body(""), **styles(b'<style a="b"/>' * 4_000_000)))
    assert told == b'{"failed": "it takes too much memory"}\n'


@pytest.mark.parametrize(
    "data", [archive({"a.txt": b"text"}), archive({}), archive({"_rels/.rels": b"<R/>"})]
)
def test_an_archive_that_is_no_document_is_none(data: bytes) -> None:
    assert extract(data) == ({"unknown": True}, b"")


def test_a_long_text_is_cut_and_said() -> None:
    told, text = extract(raw_word(body(PARAGRAPH * 100)), most=12)
    assert text == b"text\ntext\nte"
    assert told["notes"] == ["the text is cut here: it is too long"]


def test_a_document_that_takes_too_long_to_begin_fails() -> None:
    data = raw_word(body(PARAGRAPH), **styles(b"<style/>" * 500_000))
    assert extract_within(0.02, data) == ({"failed": "it takes too long"}, "")


def test_one_that_takes_too_long_is_read_as_far_as_time_goes() -> None:
    told, text = extract_within(0.3, raw_word(body(PARAGRAPH * 400_000)))
    assert text.startswith("text\ntext")
    assert told["notes"] == ["the text is cut here: the rest takes too long"]


def test_what_breaks_off_is_read_up_to_there() -> None:
    told, text = extract(raw_word(body(PARAGRAPH * 20_000)[:-50_000]))
    assert text.startswith(b"text\ntext")
    assert told["notes"][0].startswith("the text breaks off here: ")


def test_a_part_nested_without_end_breaks_off_too() -> None:
    deep = PARAGRAPH + "<w:sdt>" * 30_000 + "</w:sdt>" * 30_000
    told, text = extract(raw_word(body(deep)))
    assert text == b"text"
    assert "recursion" in told["notes"][0]


def test_nothing_of_a_document_is_opened_in_the_process_that_serves() -> None:
    app = Path(__file__).parents[3] / "app"
    inside = {path.name for path in (app / "hands/documents").glob("*.py")}
    found = {
        path.relative_to(app).as_posix()
        for path in app.rglob("*.py")
        if any(f"from app.hands.documents.{name[:-3]} import" in path.read_text() for name in inside)
    }
    outside = {name for name in found if not name.startswith("hands/documents/")}
    assert outside == {"hands/files.py"}
