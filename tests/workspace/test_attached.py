"""What attached files are called, and how a row holds them."""

from __future__ import annotations

import pytest

from app.workspace.attached import Attachment, attachments_of, clean_name, size_in_words, with_attachments


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("nightly.log", "nightly.log"),
        ("Übersicht 2026 (final).pdf", "Übersicht 2026 (final).pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\plan.docx", "plan.docx"),
        ("..", "file"),
        ("", "file"),
        (" . ", "file"),
        (".env", ".env"),
        ("two\nlines\r.txt", "two_lines_.txt"),
        ("a\u2028b.txt", "a b.txt"),
        ("gpj.\u202egnp", "gpj.gnp"),
        ("nul\0.txt", "nul_.txt"),
        ('</attached> "x`.md', "attached_ _x_.md"),
        ("e\u0301.txt", "é.txt"),
        ("half \ud83d.txt", "half .txt"),
        ("end. ", "end"),
    ],
)
def test_a_name_is_one_line_and_no_path(given: str, kept: str) -> None:
    assert clean_name(given) == kept


@pytest.mark.parametrize("given", ["x" * 400 + ".tar", "𝄞" * 200 + ".tar", "x" * 400, "a." + "b" * 400])
def test_a_long_name_is_cut_before_what_tells_its_type(given: str) -> None:
    kept = clean_name(given)
    assert len(kept.encode()) <= 150
    assert kept.endswith(".tar") == given.endswith(".tar")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (18_400, "18 kB"),
        (999_400, "999 kB"),
        (999_600, "1 MB"),
        (1_240_000, "1.2 MB"),
        (48_000_000, "48 MB"),
    ],
)
def test_a_size_is_said_as_people_say_it(size: int, words: str) -> None:
    assert size_in_words(size) == words


def test_a_row_without_files_is_as_it_was() -> None:
    assert with_attachments({"to": ["coder"]}, ()) == {"to": ["coder"]}
    assert attachments_of({"to": ["coder"]}) == ()


def test_files_come_back_from_a_row_as_they_went_in() -> None:
    files = (Attachment("attachments/conv_1/att_1/a.png", 12, "results/conv_1/img_1.png"),)
    data = with_attachments({"to": ["coder"]}, files)
    assert attachments_of(data) == files
    assert (files[0].id, files[0].name) == ("att_1", "a.png")
