"""Pictures on their way into a request: found, looked at, and left out where a server would refuse them.

What a picture is, its first bytes say, whatever was noted when it was stored.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    seen = look_at(raw)
    if seen is None or seen.media_type not in limits.media_types or 0 in seen:
        return NOT_SHOWN
    data = base64.b64encode(raw).decode()
    if max(seen.width, seen.height) > limits.longest_side or len(data) > limits.largest:
        return TOO_LARGE
    return Picture(seen.media_type, data)


class Album:
    """The pictures of one growing history, each looked at once; it says how many of the oldest have to go.

    When they become too many, half of what may stay goes at once: a history that grows by a picture at each step
    would otherwise change its beginning at each step, and no cache would ever hit. Which ones go depends on the
    history alone, and what is too old by its number is never loaded.
    """

    def __init__(self, limits: PictureLimits, load: LoadImage) -> None:
        self._limits = limits
        self._load = load
        self._found: dict[Image, Picture | str] = {}
        self._sizes: dict[Image, int] = {}

    def unseen(self, images: Sequence[Image]) -> tuple[Image, ...]:
        """Those that have to be looked at, and taken, before ``show``; ask again until there are none."""
        if not images:
            return ()
        recent = images[gone_by_number(len(images), self._limits.most) :]
        unknown = [image for image in recent if image not in self._sizes]
        if not unknown:
            unknown = [image for image in images[self._gone(images) :] if image not in self._found]
        return tuple(dict.fromkeys(unknown))

    def look(self, images: Sequence[Image]) -> dict[Image, Picture | str]:
        """What they are: reads the disk, changes nothing."""
        return {image: find_picture(image, self._limits, self._load) for image in images}

    def take(self, found: Mapping[Image, Picture | str]) -> None:
        self._found.update(found)
        for image, one in found.items():
            self._sizes[image] = len(one.data) if isinstance(one, Picture) else 0

    def show(self, images: Sequence[Image]) -> int:
        """How many of the oldest have to go; the others can be had from ``picture``. What has gone is forgotten."""
        gone = self._gone(images)
        self._found = {image: self._found[image] for image in images[gone:]}
        recent = images[gone_by_number(len(images), self._limits.most) :]
        self._sizes = {image: self._sizes[image] for image in recent}
        return gone

    def picture(self, image: Image) -> Picture | str:
        """One that is shown, or in words why it is not."""
        return self._found[image]

    def _gone(self, images: Sequence[Image]) -> int:
        gone = gone_by_number(len(images), self._limits.most)
        sizes = [self._sizes[image] for image in images[gone:]]
        return gone + gone_by_size(sizes, self._limits.altogether)


def gone_by_number(count: int, most: int) -> int:
    """How many of so many pictures, come one by one, have gone."""
    kept = max(most // 2, 1)
    at_once = most + 1 - kept
    return max(count - kept, 0) // at_once * at_once


def gone_by_size(sizes: Sequence[int], altogether: int) -> int:
    """The same by their sizes. The newest one stays."""
    gone = total = 0
    for place, size in enumerate(sizes):
        total += size
        if total > altogether:
            while gone < place and total * 2 > altogether:
                total -= sizes[gone]
                gone += 1
    return gone


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


class Look(NamedTuple):
    """What a picture is, and its sides in pixels."""

    media_type: str
    width: int
    height: int


def look_at(raw: bytes) -> Look | None:
    """What the first bytes say; None for what is no picture that servers know."""
    return _png(raw) or _gif(raw) or _webp(raw) or _jpeg(raw)


def _png(raw: bytes) -> Look | None:
    if not raw.startswith(b"\x89PNG\r\n\x1a\n") or raw[12:16] != b"IHDR" or len(raw) < 24:
        return None
    return Look("image/png", int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24]))


def _gif(raw: bytes) -> Look | None:
    if not raw.startswith((b"GIF87a", b"GIF89a")) or len(raw) < 10:
        return None
    return Look("image/gif", _little(raw[6:8]), _little(raw[8:10]))


def _webp(raw: bytes) -> Look | None:
    if raw[:4] != b"RIFF" or raw[8:12] != b"WEBP" or len(raw) < 30:
        return None
    match raw[12:16]:
        case b"VP8X":
            return Look("image/webp", _little(raw[24:27]) + 1, _little(raw[27:30]) + 1)
        case b"VP8L":
            bits = _little(raw[21:25])
            return Look("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            return Look("image/webp", _little(raw[26:28]) & 0x3FFF, _little(raw[28:30]) & 0x3FFF)
        case _:
            return None


def _jpeg(raw: bytes) -> Look | None:
    """The sides stand in the frame header, behind segments of any kind and number."""
    for marker, start in _jpeg_segments(raw):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = raw[start + 3 : start + 5], raw[start + 5 : start + 7]
            return Look("image/jpeg", int.from_bytes(width), int.from_bytes(height))
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
