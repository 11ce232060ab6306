"""The lines of one file that match: found in one pass over a file of any size, shown from where they stand."""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from app.hands.limits import SHOWN_LINE, WHOLE_FILE_BYTES
from app.hands.patterns import Matcher
from app.hands.text import decode, guess_encoding, printable

_BLOCK = 4 * 1024 * 1024
_LEAST_BLOCK = _BLOCK - len(BOM_UTF8)
"""Less than that is the end of a file."""
_LONGEST_LINE = 2 * _BLOCK
"""A longer one is searched in pieces."""
_WINDOW = 16 * 1024
"""Bytes before and after a line in which the lines around it are looked for."""

_HALF_SIGNS = re.compile(rb"\A[\x80-\xbf]+|[\xc0-\xff][\x80-\xbf]{0,2}\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """A line to show: its number from 1, whether it matches or only stands near one, its text, shortened."""

    number: int
    matches: bool
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """How many lines of a file match, as far as they were counted, and those to show."""

    count: int
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class _Spot:
    number: int
    start: int
    end: int
    at: int


def scan(
    file: io.FileIO, matcher: Matcher, *, show: int, context: int = 0, count: bool = False
) -> Found | None:
    """Search a file for matching lines; None where there are none.

    Shows the first ``show`` of them with ``context`` lines around each, and looks no further unless all are to be
    counted. A file with a NUL byte anywhere is no text and holds nothing.
    """
    source, first = _as_utf8(file)
    offset = len(BOM_UTF8) if first.startswith(BOM_UTF8) else 0
    spots: list[_Spot] = []
    total, line, counted, block = 0, 1, 0, b""
    for following in _blocks(source, first[offset:]):
        line += block.count(b"\n", counted)
        offset += len(block)
        block, counted = following, 0
        if b"\0" in block:
            return None
        enough = not count and total >= max(show, 1)
        for start, end, at in () if enough else matcher.spans(block):
            total += 1
            if len(spots) < show:
                line += block.count(b"\n", counted, start)
                counted = start
                spots.append(_Spot(line, offset + start, offset + end, offset + at))
            elif not count:
                break
    total = total if count else min(total, max(show, 1))
    return Found(total, _shown(source, spots, context)) if total else None


def _as_utf8(file: io.FileIO) -> tuple[BinaryIO | io.FileIO, bytes]:
    """The file and its first block; of a file in UTF-16 a translation, as far as it is of a size for that."""
    first = file.read(_BLOCK) or b""
    if not first.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return file, first
    decoded = decode(first + file.read(WHOLE_FILE_BYTES)) if _size(file) <= WHOLE_FILE_BYTES else None
    source = io.BytesIO(printable(decoded.text).encode() if decoded else b"\0")
    return source, source.read(_BLOCK)


def _blocks(source: BinaryIO | io.FileIO, first: bytes) -> Iterator[bytes]:
    """The file in blocks of whole lines."""
    rest, piece = b"", first
    while len(piece) >= _LEAST_BLOCK:
        data = rest + piece
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) >= _LONGEST_LINE:
            cut = len(data)
        if cut:
            yield data[:cut]
        rest = data[cut:]
        piece = source.read(_BLOCK) or b""
    if rest or piece:
        yield rest + piece


def _size(file: io.FileIO) -> int:
    return os.fstat(file.fileno()).st_size


def _shown(source: BinaryIO | io.FileIO, spots: list[_Spot], context: int) -> tuple[Line, ...]:
    lines = {spot.number: Line(spot.number, True, _text_of(source, spot)) for spot in spots}
    for spot in spots if context else ():
        for number, raw in _around(source, spot, context):
            lines.setdefault(number, Line(number, False, _readable(raw, 0)))
    return tuple(lines[number] for number in sorted(lines))


def _text_of(source: BinaryIO | io.FileIO, spot: _Spot) -> str:
    start = max(spot.start, spot.at - _WINDOW)
    source.seek(start)
    raw = source.read(min(spot.end - start, 2 * _WINDOW)) or b""
    return _readable(raw, spot.at - start)


def _around(source: BinaryIO | io.FileIO, spot: _Spot, context: int) -> Iterator[tuple[int, bytes]]:
    start = max(0, spot.start - _WINDOW)
    source.seek(start)
    before = (source.read(spot.start - start) or b"").split(b"\n")[:-1][-context:]
    yield from enumerate(before, spot.number - len(before))
    source.seek(spot.end + 1)
    after = source.read(_WINDOW) or b""
    if after:
        yield from enumerate(after.removesuffix(b"\n").split(b"\n")[:context], spot.number + 1)


def _readable(raw: bytes, at: int) -> str:
    """A line as text; of a long one the part around byte ``at``."""
    raw = raw.removesuffix(b"\r")
    if len(raw) <= SHOWN_LINE:
        return _decoded(raw)
    start = max(0, at - SHOWN_LINE // 4)
    piece = _HALF_SIGNS.sub(b"", raw[start : start + 4 * SHOWN_LINE])
    text = _decoded(piece)
    cut = len(text) > SHOWN_LINE or start + 4 * SHOWN_LINE < len(raw)
    return f"{'…' if start else ''}{text[:SHOWN_LINE]}{'…' if cut else ''}"


def _decoded(raw: bytes) -> str:
    return printable(raw.decode(guess_encoding(raw), "replace"))
