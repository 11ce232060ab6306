"""A picture made small: its sides, its form, and what is not decoded at all."""

from __future__ import annotations

import io

import pytest
from PIL import Image as pillow

from app.hands.picture_child import LARGEST_PNG, TooLarge, shrink
from tests.hands.places import picture


def opened(data: bytes) -> pillow.Image:
    return pillow.open(io.BytesIO(data))


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
@pytest.mark.parametrize(
    ("sides", "kept"), [((4000, 1000), (2000, 500)), ((1000, 4000), (500, 2000)), ((2000, 9), (2000, 9))]
)
def test_the_longest_side_is_scaled(format: str, sides: tuple[int, int], kept: tuple[int, int]) -> None:
    made, small = shrink(picture(*sides, format))
    assert (made.width, made.height) == kept == opened(small).size
    assert made.was == sides
    assert made.kind == ("jpeg" if format == "JPEG" else "png")


@pytest.mark.parametrize("format", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize(("sides", "kept"), [((40, 20), (20, 40)), ((4000, 2000), (1000, 2000))])
def test_it_is_turned_upright_and_loses_what_the_camera_noted(
    format: str, sides: tuple[int, int], kept: tuple[int, int]
) -> None:
    exif = pillow.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010F] = "Secret camera"
    made, small = shrink(picture(*sides, format, exif=exif))
    assert (made.width, made.height) == kept == opened(small).size
    assert b"Secret" not in small


def test_what_can_be_looked_through_stays_so() -> None:
    assert opened(shrink(picture(10, 10, mode="RGBA"))[1]).mode == "RGBA"


def test_a_large_png_is_kept_as_a_photograph() -> None:
    noise = pillow.effect_noise((1500, 1500), 100)
    target = io.BytesIO()
    pillow.merge("RGB", (noise, pillow.effect_noise((1500, 1500), 90), noise)).save(target, format="PNG")
    made, small = shrink(target.getvalue())
    assert made.kind == "jpeg"
    assert len(small) < LARGEST_PNG


@pytest.mark.parametrize("sides", [(6_000, 4_001), (60_000, 60_000)])
def test_a_picture_of_too_many_pixels_is_not_decoded(sides: tuple[int, int]) -> None:
    head = b"BM" + bytes(12) + (40).to_bytes(4, "little")
    head += b"".join(side.to_bytes(4, "little") for side in sides) + b"\1\0\x18\0" + bytes(24)
    with pytest.raises(TooLarge, match="pixels"):
        shrink(head)


def test_a_photograph_of_more_pixels_is_decoded_to_fewer() -> None:
    made, _ = shrink(picture(8_000, 6_000, "JPEG"))
    assert (made.width, made.height, made.was) == (2000, 1500, (8_000, 6_000))
