"""Output of a terminal becomes text: colours for people, none for models, keys for nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.terminal_text import Cleaner, clean
from app.infra.redaction import Redactor

KEY = "sk-abcdefghij0123456789"


def as_is(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("raw", "plain", "coloured"),
    [
        ("plain\n", "plain\n", "plain\n"),
        ("\x1b[1;31mred\x1b[0m\n", "red\n", "\x1b[1;31mred\x1b[0m\n"),
        ("\x1b[38:5:9mred\x1b[m", "red", "\x1b[38:5:9mred\x1b[m"),
        ("\x1b[2J\x1b[Hgone\x1b[K", "gone", "gone"),
        ("\x1b]0;title\x07text", "text", "text"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link", "link"),
        ("\x1b]52;c;c2VjcmV0\x07", "", ""),
        ("\x1b(Bx\x1b=\x1b>", "x", "x"),
        ("\x9b31mx", "x", "x"),
        ("10%\r50%\r100%\n", "100%\n", "100%\n"),
        ("windows\r\n", "windows\n", "windows\n"),
        ("10%\r", "10%", "10%"),
        ("bell\x07 nul\x00 back\x08\ttab", "bell nul back\ttab", "bell nul back\ttab"),
        ("[31m no escape, [0m", "[31m no escape, [0m", "[31m no escape, [0m"),
        ("città 漢字 👨‍👩‍👧 עברית", "città 漢字 👨‍👩‍👧 עברית", "città 漢字 👨‍👩‍👧 עברית"),
    ],
)
def test_what_people_and_what_models_read(raw: str, plain: str, coloured: str) -> None:
    text = clean(raw, as_is)
    assert (text.plain, text.coloured) == (plain, coloured)


def test_a_key_is_masked_for_both_and_where_colours_cut_it() -> None:
    redact = Redactor([KEY]).redact
    text = clean(f"key {KEY[:9]}\x1b[31m{KEY[9:]}\x1b[0m\n", redact)
    assert text.plain == text.coloured == "key [redacted]\n"


@given(st.lists(st.integers(0, 200)))
def test_a_key_is_masked_wherever_the_pieces_end(cuts: list[int]) -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
    data = f"one\ntwo {KEY} two\n{block}\nlast".encode()
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    cleaner = Cleaner(Redactor([KEY]).redact)
    told = [cleaner.feed(data[start:end]).plain for start, end in zip([0, *ends], ends, strict=False)]
    assert "".join([*told, cleaner.end().plain]) == "one\ntwo [redacted] two\n[redacted]\nlast"


@given(st.binary(max_size=300), st.integers(0, 300))
def test_pieces_make_the_same_as_the_whole(data: bytes, cut: int) -> None:
    whole, pieces = Cleaner(as_is), Cleaner(as_is)
    expected = whole.feed(data).plain + whole.end().plain
    told = pieces.feed(data[:cut]).plain + pieces.feed(data[cut:]).plain + pieces.end().plain
    assert told == expected


def test_bytes_that_are_no_text_say_so() -> None:
    cleaner = Cleaner(as_is)
    assert cleaner.feed(b"a\xff\xc3\n").plain == "a\ufffd\ufffd\n"


def test_a_line_without_an_end_is_told_in_pieces_and_no_key_on_it() -> None:
    cleaner = Cleaner(Redactor([KEY]).redact)
    told = [cleaner.feed(f"{'word ' * 50} {KEY} ".encode()).plain for _ in range(1_000)]
    text = "".join([*told, cleaner.end().plain])
    assert max(map(len, told)) < 200_000
    assert text.count("[redacted]") == 1_000
    assert KEY[:8] not in text


def test_a_key_block_without_an_end_is_not_waited_for_for_ever() -> None:
    cleaner = Cleaner(as_is)
    told = cleaner.feed(b"-----BEGIN PRIVATE KEY-----\n" + b"line\n" * 10_000).plain
    assert len(told) > 40_000
