"""Pictures of tools: small, upright, without what the camera noted, and behind a reference that leads nowhere else."""

from __future__ import annotations

import errno
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as pillow

from app.engine.messages import Image
from app.hands.errors import Refused
from app.hands.ledger import ReadLedger
from app.hands.pictures import (
    LARGEST_PNG,
    LONGEST_SIDE,
    SmallPicture,
    StoredPictures,
    load_picture,
    make_small,
    name_of,
)
from app.hands.toolbox import file_tools
from app.infra.ids import new_id
from tests.hands.places import Hands, Machine, write

pytestmark = pytest.mark.anyio


def picture(width: int, height: int, format: str = "PNG", mode: str = "RGB", **save: Any) -> bytes:
    target = io.BytesIO()
    pillow.new(mode, (width, height), "red").save(target, format=format, **save)
    return target.getvalue()


def opened(small: SmallPicture) -> pillow.Image:
    return pillow.open(io.BytesIO(small.data))


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
@pytest.mark.parametrize(
    ("sides", "kept"), [((4000, 1000), (2000, 500)), ((1000, 4000), (500, 2000)), ((2000, 9), (2000, 9))]
)
def test_the_longest_side_is_scaled(format: str, sides: tuple[int, int], kept: tuple[int, int]) -> None:
    small = make_small(picture(*sides, format), "photo")
    assert (small.width, small.height) == kept == opened(small).size
    assert small.was == sides
    assert small.kind == ("jpeg" if format == "JPEG" else "png")


def test_a_photograph_is_turned_upright_and_loses_what_the_camera_noted() -> None:
    exif = pillow.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010F] = "Secret camera"
    small = make_small(picture(40, 20, "JPEG", exif=exif), "photo")
    assert (small.width, small.height) == (20, 40)
    assert b"Secret" not in small.data


def test_what_can_be_looked_through_stays_so() -> None:
    assert opened(make_small(picture(10, 10, mode="RGBA"), "icon")).mode == "RGBA"


def test_a_large_png_is_kept_as_a_photograph() -> None:
    noise = pillow.effect_noise((1500, 1500), 100).convert("RGB")
    target = io.BytesIO()
    pillow.merge(
        "RGB", (noise.getchannel(0), pillow.effect_noise((1500, 1500), 90), noise.getchannel(1))
    ).save(target, format="PNG")
    small = make_small(target.getvalue(), "scan")
    assert small.kind == "jpeg"
    assert len(small.data) < LARGEST_PNG


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n" + bytes(100), picture(50, 50)[:60], b"<svg/>", b"GIF89a" + b"\xff" * 50],
)
def test_what_cannot_be_opened_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(Refused, match="cannot be opened as a picture"):
        make_small(data, "photo.png")


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded() -> None:
    bomb = picture(1, 1)
    bomb = bomb[:16] + (60_000).to_bytes(4) + (60_000).to_bytes(4) + bomb[24:]
    with pytest.raises(Refused) as refused:
        make_small(bomb, "bomb.png")
    assert refused.value.code in ("E_TOO_LARGE", "E_FAILED")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


async def test_a_picture_that_is_read_is_shown_and_found_again(machine: Machine, tmp_path: Path) -> None:
    write(machine.workspace / "photo.png", picture(4000, 1000))
    store = StoredPictures(tmp_path / "data", "conv_1", new_id)
    hands = Hands(file_tools(machine.gate(), ReadLedger(), store.keep))
    output = await hands.call("read_file", path="photo.png")
    assert "PNG image, 4,000 × 1,000 pixels, scaled to 2,000 × 500" in output.text
    (image,) = output.images
    assert image.ref is not None
    found = load_picture(tmp_path / "data", image.ref)
    assert found is not None
    assert found[0] == image.media_type == "image/png"
    assert pillow.open(io.BytesIO(found[1])).size == (LONGEST_SIDE, 500)


async def test_a_broken_picture_is_an_error_for_the_model(machine: Machine, tmp_path: Path) -> None:
    write(machine.workspace / "photo.png", picture(100, 100)[:80])
    store = StoredPictures(tmp_path / "data", "conv_1", new_id)
    hands = Hands(file_tools(machine.gate(), ReadLedger(), store.keep))
    assert (await hands.call("read_file", path="photo.png")).error == "E_FAILED"


async def test_a_full_disk_is_said(machine: Machine) -> None:
    def full(picture: SmallPicture) -> Image:
        raise OSError(errno.ENOSPC, "No space left on device")

    write(machine.workspace / "photo.png", picture(10, 10))
    output = await Hands(file_tools(machine.gate(), ReadLedger(), full)).call("read_file", path="photo.png")
    assert output.error == "E_FAILED"
    assert "No space left" in output.text


@pytest.mark.parametrize(
    "ref",
    [
        "results/c/img_1.png",
        "../secrets.json",
        "results/../secrets.json",
        "results/c/../../x.png",
        "/etc/passwd",
        "",
    ],
)
def test_a_reference_to_anything_else_finds_nothing(tmp_path: Path, ref: str) -> None:
    (tmp_path / "secrets.json").write_text("{}")
    assert load_picture(tmp_path, ref) is None


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("results/conv_1/img_1.png", "img_1.png"),
        ("results/conv_1/img_1.jpeg", "img_1.jpeg"),
        ("results/conv_2/img_1.png", None),
        ("results/conv_1/img_1.svg", None),
        ("results/conv_1/../conv_1/img_1.png", None),
        ("img_1.png", None),
        ("results/conv_1/res_1.txt", None),
    ],
)
def test_a_picture_has_a_name_in_its_own_conversation_only(ref: str, name: str | None) -> None:
    assert name_of(ref, "conv_1") == name
