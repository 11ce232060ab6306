"""Bytes of a file as text and back, so that what is not edited stays byte for byte: encodings and line ends.

A line ends with a line feed, with or without a carriage return before it, and with nothing else.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from app.hands.errors import Refused

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_NAMES = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "gbk": "GBK",
    "gb18030": "GB18030",
    "cp1252": "Windows-1252",
}

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office document of an old kind, or a locked one"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x7fELF", "program or library (ELF)"),
    (b"\xcf\xfa\xed\xfe", "program or library (Mach-O)"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\0asm", "WebAssembly module"),
)
_BOXED = {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}

_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_COMMON_GB = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file. ``encode(text)`` gives the very bytes it was read from."""

    text: str
    """With the line ends of the file; bytes that no text explains stand in it as lone surrogates."""
    encoding: str
    mark: bytes = b""
    """The byte order mark that stood in front."""

    @property
    def name(self) -> str:
        """``UTF-8 with BOM`` and its like, for people."""
        return _NAMES.get(self.encoding, "Latin-1") + (" with BOM" if self.mark else "")

    def encode(self, text: str) -> bytes:
        """The bytes of another text in the same file. Raises ``Refused`` for signs its encoding does not have."""
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        try:
            return self.mark + text.encode(self.encoding, errors)
        except UnicodeEncodeError as error:
            sign = text[error.start]
            raise Refused(
                "E_NOT_EDITABLE",
                f"The file is written in {self.name}, which has no {sign!a}. Use signs it has, "
                "or write the file anew in UTF-8 under another name.",
            ) from error


def decode(data: bytes) -> Decoded | None:
    """The text of a whole file; None for one that is not text."""
    if looks_binary(data):
        return None
    mark, marked = mark_of(data)
    if marked:
        found = _exactly(data[len(mark) :], marked, mark)
        return found if found is not None and "\0" not in found.text else None
    if b"\0" in data:
        return None
    encoding = guess_encoding(data)
    if encoding == "utf-8":
        return Decoded(data.decode("utf-8", "surrogateescape"), "utf-8")
    return _exactly(data, encoding, b"") or Decoded(data.decode("latin-1"), "latin-1")


def mark_of(data: bytes) -> tuple[bytes, str | None]:
    """The byte order mark in front, and the encoding it stands for; nothing and None without one."""
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", None))


def guess_encoding(data: bytes) -> str:
    """The likeliest encoding of bytes without a mark: ``utf-8``, ``gbk``, ``gb18030``, ``cp1252``, ``latin-1``.

    A few broken sequences do not make UTF-8 something else. Chinese is told from Western text by its commonest
    signs; other scripts in old encodings are shown as Western text, and still survive an edit.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        rest, sequences = _SEQUENCE.subn(b"", data)
        if sequences > _high_bytes(rest):
            return "utf-8"
        common = len(_COMMON_GB.findall(data))
        chinese = ("gbk", "gb18030") if common * 8 >= _high_bytes(data) * 3 else ()
        return next((name for name in (*chinese, "cp1252") if _exactly(data, name, b"")), "latin-1")
    return "utf-8"


def looks_binary(data: bytes) -> bool:
    """Whether the first bytes of a file say that it is no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return b"\0" in data[:65_536] or find_kind(data) is not None


def find_kind(data: bytes) -> str | None:
    """What a file that is no text is, by its first bytes; None where they do not tell."""
    if data[:4] == b"RIFF":
        return _BOXED.get(data[8:12])
    if data[4:8] == b"ftyp":
        return "MP4 video or HEIF image"
    return next((kind for start, kind in _KINDS if data.startswith(start)), None)


def line_ends(text: str) -> str:
    """``LF``, ``CRLF``, ``mixed`` or, where there is none, an empty text."""
    pairs = text.count("\r\n")
    if pairs == text.count("\n"):
        return "CRLF" if pairs else ""
    return "mixed" if pairs else "LF"


def line_count(text: str) -> int:
    """Lines as people count them: the end of the last one may be missing."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)


def number_of(count: int, thing: str) -> str:
    """``1 line``, ``1,200 lines``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def printable(text: str) -> str:
    """Text that may leave the machine: what is no character is replaced by one that says so."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _exactly(data: bytes, encoding: str, mark: bytes) -> Decoded | None:
    try:
        text = data.decode(encoding)
        return Decoded(text, encoding, mark) if text.encode(encoding) == data else None
    except UnicodeError:
        return None


def _high_bytes(data: bytes) -> int:
    return len(data) - len(data.translate(None, bytes(range(128, 256))))
