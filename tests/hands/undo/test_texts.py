"""A change as people read it."""

from __future__ import annotations

import pytest

from app.hands.undo.texts import SHOWN_BYTES, TextDiff, text_diff
from app.hands.undo.values import Change, Entry, File, Folder, Link, Unheld


def file(text: bytes, mode: int = 0o644) -> File:
    return File(mode, len(text), text)


def shown(before: Entry | None, after: Entry | None) -> TextDiff:
    return text_diff(Change("a", before, after), lambda content: content)


def test_lines_are_shown_with_their_signs_and_counted() -> None:
    assert shown(file(b"1\n2\n3\n"), file(b"1\nzwei\n3\n4\n")) == TextDiff(
        ("@@ -1,3 +1,4 @@", " 1", "-2", "+zwei", " 3", "+4"), 2, 1
    )


def test_a_line_end_that_is_missing_is_said() -> None:
    assert shown(file(b"1\n"), file(b"1")).lines == (
        "@@ -1 +1 @@",
        "-1",
        "+1",
        "\\ no line end after the last line",
    )


def test_a_line_that_begins_with_a_sign_is_counted_once() -> None:
    diff = shown(None, file(b"--- a\n+++ b\n"))
    assert (diff.added, diff.removed) == (2, 0)


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (file(b"1"), file(b"1", 0o755), "mode 644 → 755"),
        (None, file(b""), "empty"),
        (None, file(b"\x89PNG\r\n\x1a\n\0"), "PNG image: nothing → a file of 9 bytes"),
        (file(b"a\0b"), file(b"text\n"), "binary data: a file of 3 bytes → a file of 5 bytes"),
        (file(b"x" * (SHOWN_BYTES + 1)), None, "too large to be compared: a file of 524,289 bytes → nothing"),
        (file(b"\n" * 10_001), None, "too long to be compared: a file of 10,001 bytes → nothing"),
        (Link(b"x"), Link(b"y\n"), "a link to x → a link to y\\n"),
        (file(b"1"), Folder(0o755), "a file of 1 byte → a folder, mode 755"),
        (Unheld("large"), file(b"1"), "not kept (it is too large) → a file of 1 byte"),
    ],
)
def test_what_is_no_text_is_said_in_words(before: Entry | None, after: Entry | None, note: str) -> None:
    assert shown(before, after) == TextDiff(note=note)
