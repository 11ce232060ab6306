"""JSON as servers write it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from app.providers.errors import StreamUnreadable


def decode(data: bytes) -> Any:
    """With halves of characters, numbers of any size, broken UTF-8; None for nothing. Raises ``StreamUnreadable``."""
    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError:
        pass
    if not data.strip():
        return None
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise StreamUnreadable("an event is not JSON") from error
