"""Pictures that tools bring: made small enough for any model, kept with their conversation, found by reference."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
from anyio.lowlevel import RunVar

from app.engine.messages import Image
from app.hands.children import child, of_ours, output_of
from app.hands.errors import Refused
from app.hands.limits import PICTURE_BYTES, PICTURE_SECONDS
from app.infra.files import write_atomic
from app.infra.ids import NewId

EXTRA = 'pip install "plancia[documents]"'

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
    command = _command(label)
    async with _one_at_a_time():
        try:
            with anyio.fail_after(seconds):
                told, small = await _asked(command, data)
        except TimeoutError:
            raise Refused("E_TIMEOUT", f"{label} took too long to be opened. Scale it down first.") from None
        except OSError as error:
            raise Refused("E_FAILED", f"{label} could not be opened: {error}.", transient=True) from error
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


async def _asked(command: Sequence[str], data: bytes) -> tuple[Any, bytes]:
    """What the child says of a picture, and the small one; None where it broke off."""
    answer = bytearray()
    async with child(command, folder=Path("/"), told=data) as process:
        async for piece in output_of(process):
            answer += piece
            if len(answer) > PICTURE_BYTES:
                return None, b""
        if await process.wait() != 0:
            return None, b""
    told, _, small = bytes(answer).partition(b"\n")
    try:
        return json.loads(told), small
    except ValueError:
        return None, b""


def _command(label: str) -> tuple[str, ...]:
    pillow = find_spec("PIL")
    if pillow is None or pillow.origin is None:
        raise Refused(
            "E_FAILED",
            f"{label} is a picture, and what opens pictures is not installed here. Ask the user to run: {EXTRA}",
        )
    return of_ours("app.hands.picture_child", Path(pillow.origin).parents[1])


_turn: RunVar[anyio.Lock] = RunVar("turn")


def _one_at_a_time() -> anyio.Lock:
    """The lock of this event loop: a large picture takes much memory, and many may be asked for side by side."""
    lock = _turn.get(None)
    if lock is None:
        lock = anyio.Lock()
        _turn.set(lock)
    return lock
