"""The look at a picture as a program of its own: whatever the picture costs, it costs no other, and can be ended.

Takes the bytes of a picture on standard input. Gives one JSON line, and behind it the bytes of the small picture.
Knows nothing but the standard library and Pillow.
"""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from app.hands.opening_child import Answer, answer

if TYPE_CHECKING:
    from PIL import Image as pillow

LONGEST_SIDE = 2000
"""Pixels; a larger picture is scaled down."""
MOST_PIXELS = 24_000_000
"""A picture that has to be decoded to more takes more memory than it is worth; photographs are decoded scaled down."""
LARGEST_PNG = 3_000_000
"""Bytes; a larger one is a photograph, and kept as JPEG."""
QUALITY = 85
PROCESSOR_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Sides:
    """What a small picture is: ``png`` or ``jpeg``, its sides in pixels, and what they were before."""

    kind: str
    width: int
    height: int
    was: tuple[int, int]


class TooLarge(Exception):
    """The picture has more pixels than may be decoded."""


def shrink(data: bytes) -> tuple[Sides, bytes]:
    """Upright, and without what the camera noted beside it. Raises ``TooLarge``, and what a decoder likes."""
    from PIL import Image as pillow
    from PIL import ImageOps

    pillow.MAX_IMAGE_PIXELS = None  # our own limit stands below, and comes before anything is decoded
    with pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")) as opened:
        was, is_photo = opened.size, opened.format == "JPEG"
        opened.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        if opened.width * opened.height > MOST_PIXELS:
            raise TooLarge(f"{was[0]:,} by {was[1]:,} pixels")
        opened.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        upright = ImageOps.exif_transpose(opened)
        small = _jpeg(upright) if is_photo else _png(upright)
        if not is_photo and len(small) > LARGEST_PNG:
            is_photo, small = True, _jpeg(upright)
        return Sides("jpeg" if is_photo else "png", *upright.size, was), small


def main() -> None:
    answer(_look, PROCESSOR_SECONDS)


def _look(data: bytes) -> Answer:
    try:
        sides, small = shrink(data)
    except TooLarge as error:
        return {"too_large": str(error)}, b""
    return asdict(sides), small


def _jpeg(picture: pillow.Image) -> bytes:
    return _saved(_flat(picture), format="JPEG", quality=QUALITY)


def _png(picture: pillow.Image) -> bytes:
    return _saved(picture.convert("RGBA" if picture.has_transparency_data else "RGB"), format="PNG")


def _flat(picture: pillow.Image) -> pillow.Image:
    """On white where it can be looked through."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    from PIL import Image as pillow

    over = picture.convert("RGBA")
    return pillow.alpha_composite(pillow.new("RGBA", over.size, "white"), over).convert("RGB")


def _saved(picture: pillow.Image, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, **options)
    return target.getvalue()
