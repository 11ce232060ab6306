"""Pictures on their way into a request: found, looked at, and left out where a server would refuse them.

What a picture is, its first bytes say, whatever was noted when it was stored.
"""

from __future__ import annotations

import base64
import binascii
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from app.engine.messages import Image

LoadImage = Callable[[str], tuple[str, bytes] | None]
"""The media type and the bytes that an image's ``ref`` stands for; None where they are gone."""

NOT_SHOWN = "[A picture stood here that cannot be shown.]"
TOO_LARGE = "[A picture stood here that is too large to be shown.]"
NO_LONGER_SHOWN = "[An older picture stood here; it is not shown any more.]"


@dataclass(frozen=True, slots=True)
class Picture:
    """One that can be sent; ``data`` is base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """What one server takes: characters of base64, pixels of the longer side, pictures in one request."""

    largest: int
    altogether: int
    most: int
    longest_side: int = 8_000
    media_types: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def find_picture(image: Image, limits: PictureLimits, load: LoadImage) -> Picture | str:
    """The picture, or in words why there is none."""
    raw = _bytes_of(image, load)
    seen = _look(raw)
    if seen is None or seen.media_type not in limits.media_types or 0 in seen:
        return NOT_SHOWN
    data = base64.b64encode(raw).decode()
    if max(seen.width, seen.height) > limits.longest_side or len(data) > limits.largest:
        return TOO_LARGE
    return Picture(seen.media_type, data)


class Gallery:
    """Counts the pictures of one request, oldest first, and says how many of the oldest have to go.

    When they become too many, half of what may stay goes at once: a history that grows by a picture at each step
    would otherwise change its beginning at each step, and no cache would ever hit.
    """

    def __init__(self, limits: PictureLimits) -> None:
        self._limits = limits
        self._shown: deque[int] = deque()
        self._size = 0
        self.count = 0
        self.gone = 0

    def add(self, picture: Picture) -> int:
        """The number of the picture, from 0."""
        self._shown.append(len(picture.data))
        self._size += len(picture.data)
        if self._exceeds(1):
            while len(self._shown) > 1 and self._exceeds(2):
                self._size -= self._shown.popleft()
                self.gone += 1
        self.count += 1
        return self.count - 1

    def _exceeds(self, part: int) -> bool:
        limits = self._limits
        return len(self._shown) * part > limits.most or self._size * part > limits.altogether


def load_nothing(ref: str) -> None:
    """For a history whose pictures are all inline."""


def _bytes_of(image: Image, load: LoadImage) -> bytes:
    if image.data:
        try:
            return binascii.a2b_base64(image.data, strict_mode=True)
        except ValueError:
            return b""
    found = load(image.ref) if image.ref else None
    return b"" if found is None else found[1]


class _Look(NamedTuple):
    media_type: str
    width: int
    height: int


def _look(raw: bytes) -> _Look | None:
    """What the first bytes say; None for what is no picture that servers know."""
    return _png(raw) or _gif(raw) or _webp(raw) or _jpeg(raw)


def _png(raw: bytes) -> _Look | None:
    if not raw.startswith(b"\x89PNG\r\n\x1a\n") or raw[12:16] != b"IHDR" or len(raw) < 24:
        return None
    return _Look("image/png", int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24]))


def _gif(raw: bytes) -> _Look | None:
    if not raw.startswith((b"GIF87a", b"GIF89a")) or len(raw) < 10:
        return None
    return _Look("image/gif", _little(raw[6:8]), _little(raw[8:10]))


def _webp(raw: bytes) -> _Look | None:
    if raw[:4] != b"RIFF" or raw[8:12] != b"WEBP" or len(raw) < 30:
        return None
    match raw[12:16]:
        case b"VP8X":
            return _Look("image/webp", _little(raw[24:27]) + 1, _little(raw[27:30]) + 1)
        case b"VP8L":
            bits = _little(raw[21:25])
            return _Look("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            return _Look("image/webp", _little(raw[26:28]) & 0x3FFF, _little(raw[28:30]) & 0x3FFF)
        case _:
            return None


def _jpeg(raw: bytes) -> _Look | None:
    """The sides stand in the frame header, behind segments of any kind and number."""
    for marker, start in _jpeg_segments(raw):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = raw[start + 3 : start + 5], raw[start + 5 : start + 7]
            return _Look("image/jpeg", int.from_bytes(width), int.from_bytes(height))
    return None


def _jpeg_segments(raw: bytes) -> Iterator[tuple[int, int]]:
    """Marker, and the place of the segment's length."""
    place = 2 if raw.startswith(b"\xff\xd8\xff") else len(raw)
    while place + 4 <= len(raw) and raw[place] == 0xFF:
        if raw[place + 1] == 0xFF:
            place += 1
            continue
        yield raw[place + 1], place + 2
        place += 2 + int.from_bytes(raw[place + 2 : place + 4])


def _little(raw: bytes) -> int:
    return int.from_bytes(raw, "little")
