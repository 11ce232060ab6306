"""Pictures that tools bring: made small enough for any model, kept with their conversation, found by reference."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.engine.messages import Image
from app.hands.errors import Refused
from app.hands.limits import PICTURE_BYTES, PICTURE_SECONDS
from app.hands.opening import EXTRA, folder_of, opened
from app.infra.files import write_atomic
from app.infra.ids import NewId

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


async def make_small(data: bytes, label: str, seconds: float = PICTURE_SECONDS) -> SmallPicture:
    """Raises ``Refused`` for what cannot be opened as a picture, has too many pixels, or takes too long.

    So too where the extra ``documents`` is not installed.
    """
    folder = _library(label)
    told, small = await opened(
        "app.hands.picture_child", [folder], data, label=label, seconds=seconds, most=PICTURE_BYTES
    )
    match told:
        case {
            "kind": "png" | "jpeg" as kind,
            "width": int(width),
            "height": int(height),
            "was": [int(wide), int(high)],
        }:
            return SmallPicture(small, kind, width, height, (wide, high))
        case {"too_large": size}:
            raise Refused("E_TOO_LARGE", f"{label} has {size}, too many to be opened. Scale it down first.")
        case {"failed": why}:
            raise Refused("E_FAILED", f"{label} cannot be opened as a picture: {why}.")
        case _:
            raise Refused("E_FAILED", f"{label} cannot be opened as a picture.")


def _library(label: str) -> Path:
    folder = folder_of("PIL")
    if folder is None:
        raise Refused(
            "E_FAILED",
            f"{label} is a picture, and what opens pictures is not installed here. Ask the user to run: {EXTRA}",
        )
    return folder
