"""How a member is told of the files that go with a message: by path, type and size; of a picture it sees a copy."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.messages import Image
from app.engine.steering import UserInput
from app.prompts.rendering import compose
from app.workspace.attached import Attachment, size_in_words

_SHOWN = "a picture, shown below"
_MEDIA_TYPES = {".png": "image/png", ".jpeg": "image/jpeg"}


def with_files(said: UserInput, files: Sequence[Attachment], root: Path) -> UserInput:
    """The same, with files that lie below the data folder ``root``. They are named first: what is said ends it."""
    if not files:
        return said
    shown = tuple(
        Image(one.picture, _MEDIA_TYPES.get(Path(one.picture).suffix)) for one in files if one.picture
    )
    return replace(said, text=named(said.text, files, root), images=(*said.images, *shown))


def named(text: str, files: Sequence[Attachment], root: Path, *, shown: bool = True) -> str:
    """A text behind the names of its files; ``shown``: pictures follow it."""
    if not files:
        return text
    lines = [
        {"path": str(root / one.path), "what": _what(one, shown), "size": size_in_words(one.size)}
        for one in files
    ]
    return compose("attached", files=lines, text=text)


def _what(file: Attachment, shown: bool) -> str:
    if file.picture:
        return _SHOWN if shown else "a picture"
    return mimetypes.guess_type(file.name)[0] or ""
