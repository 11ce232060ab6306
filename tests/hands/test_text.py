"""Bytes to text and back: every encoding survives, and what is no text is told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.errors import Refused
from app.hands.text import decode, find_kind, line_count, line_ends, printable


@given(
    st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_what_is_not_changed_comes_back_byte_for_byte(data: bytes) -> None:
    decoded = decode(data)
    assert decoded is None or decoded.encode(decoded.text) == data


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        ("città".encode(), "UTF-8", "città"),
        ("\ufeffcittà".encode(), "UTF-8 with BOM", "città"),
        ("\ufeffcittà".encode("utf-16-le"), "UTF-16 with BOM", "città"),
        ("\ufeffcittà".encode("utf-16-be"), "UTF-16 with BOM", "città"),
        ("perché no".encode("latin-1"), "Windows-1252", "perché no"),
        ("“10 €”".encode("cp1252"), "Windows-1252", "“10 €”"),
        (b"\x81 undefined \xe9", "Latin-1", "\x81 undefined é"),
        ("名称=木工房，状态=关闭".encode("gbk"), "GBK", "名称=木工房，状态=关闭"),
        ("cafés très naïfs, Größe".encode("latin-1"), "Windows-1252", "cafés très naïfs, Größe"),
        ("però è così, 👍 ".encode() + b"\xf0\x9f", "UTF-8", "però è così, 👍 \udcf0\udc9f"),
    ],
)
def test_the_encoding_is_told_from_the_bytes(data: bytes, name: str, text: str) -> None:
    decoded = decode(data)
    assert decoded is not None
    assert (decoded.name, decoded.text) == (name, text)


@pytest.mark.parametrize(
    "data",
    [b"text\0more", b"\x89PNG\r\n\x1a\nabc", b"%PDF-1.7\n", b"PK\x03\x04x", b"\xff\xfea\0\0\0", b"\xff\xfea"],
)
def test_what_is_no_text_is_none(data: bytes) -> None:
    assert decode(data) is None


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "PNG image"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "WebP image"),
        (b"\0\0\0\x18ftypmp42", "MP4 video or HEIF image"),
        (b"\x7fELF\x02", "program or library (ELF)"),
        (b"PNG", None),
    ],
)
def test_the_kind_of_other_data_is_told_from_its_first_bytes(data: bytes, kind: str | None) -> None:
    assert find_kind(data) == kind


def test_a_sign_that_the_encoding_does_not_have_is_refused() -> None:
    decoded = decode("caffè".encode("latin-1"))
    assert decoded is not None
    with pytest.raises(Refused, match="E_NOT_EDITABLE"):
        decoded.encode("木")


@pytest.mark.parametrize(
    ("text", "ends"),
    [("a\nb\n", "LF"), ("a\r\nb\r\n", "CRLF"), ("a\r\nb\n", "mixed"), ("a", ""), ("a\rb", "")],
)
def test_only_a_line_feed_ends_a_line(text: str, ends: str) -> None:
    assert line_ends(text) == ends


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), ("a\u2028b", 1)]
)
def test_lines_are_counted_as_people_do(text: str, count: int) -> None:
    assert line_count(text) == count


@given(st.text(st.characters()))
def test_what_is_printable_can_be_encoded_and_is_as_long(text: str) -> None:
    assert printable(text).encode() or not text
    assert printable("a\udcffb") == "a\ufffdb"
