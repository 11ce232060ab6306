"""Whether a server dropped the beginning of a conversation without a word. Pure.

It answers as if nothing were missing; the one trace is how many tokens of the prompt it counted. That alone proves
nothing, as older servers do not count what their cache served. So the count has to fill a window, all of it or the
half that is kept of a prompt beyond it, or the server has to name a window that cannot have held what was sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.engine.compacting import DOUBT
from app.engine.messages import Image, Message, Reasoning
from app.engine.provider import ModelRequest
from app.engine.tokens import estimate_request

_USUAL = tuple(2**power for power in range(11, 18))
"""Windows that servers have where nobody chose one, and their halves."""
_SLACK = 8
"""Tokens by which a prompt misses a window that it fills."""


def least_sent(request: ModelRequest) -> int:
    """Tokens of what was sent for certain: thinking may be left out, and each model counts pictures in its own way."""
    messages = tuple(map(_without_guesses, request.messages))
    return estimate_request(replace(request, messages=messages))


def _without_guesses(message: Message) -> Message:
    sure = tuple(block for block in message.blocks if not isinstance(block, Reasoning | Image))
    return Message(message.role, sure, message.id, message.time)


def is_doubtful(sent: int, read: int) -> bool:
    """The server counted clearly less than was sent: something is missing, or its cache is."""
    return 0 < read * DOUBT < sent


def lost_beginning(sent: int, read: int, *, asked: int | None, loaded: int | None) -> bool:
    """Of a doubtful count. ``asked`` is the window that was asked for, ``loaded`` the one that the server names."""
    if loaded is not None:
        return sent > loaded * DOUBT or _fills(read, loaded)
    return any(_fills(read, window) for window in (asked, *_USUAL) if window)


def read_window(payload: Any, model: str) -> int | None:
    """The window of a model in the server's list of those that are loaded; None where it names none."""
    listed = payload.get("models") if isinstance(payload, dict) else None
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("name") in (model, f"{model}:latest"):
            window = one.get("context_length")
            return window if isinstance(window, int) and window > 0 else None
    return None


def _fills(read: int, window: int) -> bool:
    return any(abs(read - size) <= _SLACK for size in (window, window // 2))
