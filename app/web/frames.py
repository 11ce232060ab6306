"""Frames of the page's stream, as bytes of ``text/event-stream``."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse

PING_SECONDS = 15
STALLED_SECONDS = 30
"""A reader that takes nothing for so long has lost its line; it comes back with its cursor."""


def streamed(frames: AsyncIterator[bytes]) -> EventSourceResponse:
    """The answer that hands them out as they come."""
    return EventSourceResponse(
        frames,
        ping=PING_SECONDS,
        send_timeout=STALLED_SECONDS,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def frame(id: str, html: str) -> bytes:
    """An unnamed event: its ``hx-partial`` elements are swapped into the page."""
    return f"id: {id}\n{_data(html)}\n".encode("utf-8", "replace")


def behaviour(name: str, data: str = "") -> bytes:
    """A named event: the page acts on it and swaps nothing."""
    return f"event: {name}\n{_data(data)}\n".encode("utf-8", "replace")


def _data(text: str) -> str:
    """Every kind of line end closes a field, so each line is a field of its own."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join(f"data: {line}\n" for line in lines)
