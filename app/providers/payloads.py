"""JSON as servers write it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from app.engine.assembly import is_deep
from app.providers.errors import StreamUnreadable

MAX_DEPTH = 200
"""Levels of nesting: a call's arguments may have as many as a call may have, whatever stands around them."""


def decode(data: bytes) -> Any:
    """With halves of characters, numbers of any size, broken UTF-8; None for nothing. Raises ``StreamUnreadable``.

    What comes back is shallow enough to be walked by recursion.
    """
    try:
        value = _decoded(data)
    except (ValueError, RecursionError) as error:
        raise StreamUnreadable("an event is not JSON") from error
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_deep(value, MAX_DEPTH):
        raise StreamUnreadable("an event is nested too deep")
    return value


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError:
        return json.loads(data.decode("utf-8-sig", "replace")) if data.strip() else None
