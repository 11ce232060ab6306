"""Documents that are read: through ``read_file``, in a program that can be ended, quoted by lines and not edited."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from app.hands.documents.extract import Documents
from app.hands.errors import Refused
from tests.hands.documents.samples import archive, pdf, raw_word, sheets, slides, word
from tests.hands.places import Hands, Machine, running, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
def hands(machine: Machine) -> Hands:
    return Hands.on(machine.gate())


def text_everywhere(document: Any) -> None:
    document.add_paragraph("alpha")


def titled(presentation: Any) -> None:
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "alpha"


def one_cell(workbook: Any) -> None:
    workbook.active["A1"] = "alpha"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pdf", pdf("alpha"), "PDF document, 1 page,"),
        ("a.docx", word(text_everywhere), "Word document, 1 paragraph,"),
        ("a.pptx", slides(titled), "PowerPoint presentation, 1 slide,"),
        ("a.xlsx", sheets(one_cell), "Excel workbook, 1 sheet,"),
    ],
)
async def test_every_kind_is_read_as_text_and_says_what_it_is(
    machine: Machine, hands: Hands, name: str, data: bytes, said: str
) -> None:
    write(machine.workspace / name, data)
    output = await hands.call("read_file", path=name)
    head, _, text = output.text.partition("\n")
    assert output.error is None
    assert head.startswith(f"[{name}: lines 1-")
    assert f"text taken out of it, not to be edited, {said} {len(data):,} bytes, hash " in head
    assert "alpha" in text


async def test_what_it_is_tells_its_content_and_not_its_name(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "report.dat", pdf("alpha"))
    assert "PDF document, 1 page" in (await hands.call("read_file", path="report.dat")).text
    write(machine.workspace / "notes.pdf", "just text\n")
    assert (await hands.call("read_file", path="notes.pdf")).text.endswith("]\njust text")


async def test_a_range_of_its_lines_is_read_on_in(machine: Machine, hands: Hands) -> None:
    pages = ["\n".join(f"page {page} line {line} {'x' * 60}" for line in range(60)) for page in range(12)]
    write(machine.workspace / "long.pdf", pdf(*pages))
    first = (await hands.call("read_file", path="long.pdf")).text
    assert first.splitlines()[1] == "--- page 1 of 12 ---"
    assert "Go on with range" in first.splitlines()[-1]
    wanted = {"unit": "line", "start": 62, "end": 63}
    second = (await hands.call("read_file", path="long.pdf", range=wanted)).text.splitlines()
    assert second[0].startswith("[long.pdf: lines 62-63 of 732, ")
    assert second[1:] == ["--- page 2 of 12 ---", f"page 1 line 0 {'x' * 60}"]
    past = await hands.call("read_file", path="long.pdf", range={"unit": "line", "start": 900, "end": 901})
    assert past.error == "E_BAD_INPUT"


async def test_a_document_that_was_read_is_not_edited_or_overwritten_as_text(
    machine: Machine, hands: Hands
) -> None:
    for name, data in (("a.docx", word(text_everywhere)), ("a.pdf", pdf("alpha"))):
        path = write(machine.workspace / name, data)
        await hands.call("read_file", path=name)
        edited = await hands.call("edit_file", path=name, old_string="alpha", new_string="x")
        written = await hands.call("write_file", path=name, content="x")
        assert (edited.error, written.error) == ("E_NOT_EDITABLE", "E_NOT_EDITABLE")
        assert path.read_bytes() == data


async def test_a_document_may_be_larger_than_a_text(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "large.pdf", pdf("alpha") + b"\n%" + b"x" * (17 * 1024 * 1024))
    assert "alpha" in (await hands.call("read_file", path="large.pdf")).text


async def test_a_scan_says_that_there_is_no_text(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "scan.pdf", pdf("", ""))
    text = (await hands.call("read_file", path="scan.pdf")).text
    assert text.startswith(
        "[scan.pdf: PDF document, 2 pages, no text on pages 1-2, perhaps pictures of text (a scan), "
    )
    assert text.endswith(". No text was found in it.]")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (archive({"a.txt": b"alpha"}), "ZIP archive or office document"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
            "office document of an old kind, or a locked one",
        ),
    ],
)
async def test_what_only_looks_like_one_is_no_text(
    machine: Machine, hands: Hands, data: bytes, said: str
) -> None:
    write(machine.workspace / "a.bin", data)
    output = await hands.call("read_file", path="a.bin")
    assert output.error is None
    assert f"[a.bin: {said}, " in output.text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pdf("x", password="pw"), "is locked with a password"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "EncryptedPackage".encode("utf-16-le"),
            "is locked with a password",
        ),
        (b"%PDF-1.7\nnothing", "cannot be read as a document: "),
        (b"PK\x03\x04" + bytes(50), "cannot be read as a document: "),
        (raw_word(b"<!DOCTYPE x><x/>"), "declares a document type"),
    ],
)
async def test_one_that_cannot_be_read_says_why(
    machine: Machine, hands: Hands, data: bytes, said: str
) -> None:
    write(machine.workspace / "bad", data)
    output = await hands.call("read_file", path="bad")
    assert output.error == "E_FAILED"
    assert output.text.startswith("E_FAILED: bad ")
    assert said in output.text


async def test_where_the_library_is_missing_the_command_that_adds_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for library in ("pypdf", "openpyxl"):
        monkeypatch.setitem(sys.modules, library, None)
    for data in (pdf("alpha"), sheets(one_cell)):
        with pytest.raises(
            Refused, match=r'^E_FAILED: it is a document, .*pip install "plancia\[documents\]"'
        ):
            await Documents().read(data, "it")
    found = await Documents().read(word(text_everywhere), "it")
    assert found is not None
    assert found.text == "alpha"


async def test_a_text_is_kept_while_it_is_read_on_in() -> None:
    documents, data = Documents(), word(text_everywhere)
    first = await documents.read(data, "it")
    assert await documents.read(data, "it") is first
    for other in ("a", "b"):
        await documents.read(pdf(other), "other")
    assert await documents.read(data, "it") is not first


async def test_one_that_takes_too_long_is_given_up() -> None:
    before = running()
    with pytest.raises(Refused) as refused:
        await Documents().read(pdf("alpha"), "it", seconds=0)
    assert refused.value.code == "E_TIMEOUT"
    assert running() == before


async def test_a_stop_in_the_middle_leaves_no_process() -> None:
    before, data = running(), pdf(*(["alpha"] * 500))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Documents().read, data, "it")
        with anyio.move_on_after(5):  # where the system does not tell what runs
            while running() == before:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert running() == before
