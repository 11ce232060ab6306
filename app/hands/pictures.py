"""Pictures that tools bring: made small enough for any model, kept with their conversation, found by reference."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engine.messages import Image
from app.hands.errors import Refused
from app.infra.files import write_atomic
from app.infra.ids import NewId

if TYPE_CHECKING:
    from PIL import Image as pillow

LONGEST_SIDE = 2000
"""Pixels; a larger picture is scaled down before it is kept."""
MOST_PIXELS = 64_000_000
"""A picture of more would take more memory than a picture is worth."""
LARGEST_PNG = 3_000_000
"""Bytes; a larger one is a photograph, and kept as JPEG."""
QUALITY = 85

_MEDIA_TYPES = {"png": "image/png", "jpeg": "image/jpeg"}
_REF = re.compile(r"results/[0-9a-z_]{1,60}/img_[0-9a-z]{1,40}\.(png|jpeg)")


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A picture as it is kept: upright, without what the camera noted beside it."""

    data: bytes
    kind: str
    """``png`` or ``jpeg``."""
    width: int
    height: int
    was: tuple[int, int]
    """Its sides before."""


KeepPicture = Callable[[SmallPicture], Image]
"""Stores a picture for as long as its conversation lives. Raises ``OSError``."""


@dataclass(frozen=True, slots=True)
class StoredPictures:
    """The pictures of one conversation, in its folder of results below the data folder ``root``."""

    root: Path
    conversation: str
    new_id: NewId

    def keep(self, picture: SmallPicture) -> Image:
        """See ``KeepPicture``."""
        ref = f"results/{self.conversation}/{self.new_id('img')}.{picture.kind}"
        file = self.root / ref
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(file, picture.data)
        return Image(ref, _MEDIA_TYPES[picture.kind])


def name_of(ref: str, conversation: str) -> str | None:
    """The file name of a kept picture of that conversation; None where ``ref`` names none."""
    folder, _, name = ref.rpartition("/")
    return name if _REF.fullmatch(ref) and folder == f"results/{conversation}" else None


def load_picture(root: Path, ref: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a kept picture; None where ``ref`` names none."""
    named = _REF.fullmatch(ref)
    try:
        return (_MEDIA_TYPES[named[1]], (root / ref).read_bytes()) if named else None
    except OSError:
        return None


def make_small(data: bytes, label: str) -> SmallPicture:
    """Raises ``Refused`` for what cannot be opened as a picture, or has too many pixels."""
    from PIL import Image as pillow
    from PIL import ImageOps

    pillow.MAX_IMAGE_PIXELS = None  # our own limit stands below, and comes before anything is decoded
    try:
        with pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")) as opened:
            was = opened.size
            if was[0] * was[1] > MOST_PIXELS:
                raise Refused(
                    "E_TOO_LARGE",
                    f"{label} has {was[0]:,} by {was[1]:,} pixels, too many to be opened. Scale it down first.",
                )
            is_photo = opened.format == "JPEG"
            opened.draft("RGB", (LONGEST_SIDE * 2, LONGEST_SIDE * 2))
            upright = ImageOps.exif_transpose(opened)
            upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            data = _jpeg(upright) if is_photo else _png(upright)
            if not is_photo and len(data) > LARGEST_PNG:
                is_photo, data = True, _jpeg(upright)
            return SmallPicture(data, "jpeg" if is_photo else "png", *upright.size, was)
    except Refused:
        raise
    except Exception as error:  # a decoder meets any bytes, and raises what it likes
        raise Refused("E_FAILED", f"{label} cannot be opened as a picture: {error}.") from error


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
