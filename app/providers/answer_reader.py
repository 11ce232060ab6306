"""Reads one answer off a response, whatever the wire: batches of events, one for each read of the network."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol

import httpx

from app.engine.provider import StreamBatch, StreamEvent
from app.providers.errors import AnswerFailed, StreamSilent, StreamUnreadable, WireError
from app.providers.failures import read_payload
from app.providers.payloads import decode
from app.providers.stream_limits import StreamLimits, TimedBody


class Framing(Protocol):
    """How payloads stand in the stream, one behind the other."""

    @property
    def found(self) -> bool:
        """At least one payload was finished."""
        ...

    @property
    def skipped(self) -> bool:
        """Something came that does not belong into such a stream."""
        ...

    def feed(self, piece: bytes) -> list[bytes]:
        """The payloads that this piece finished. Raises ``StreamUnreadable``."""
        ...

    def finish(self) -> list[bytes]:
        """What the end of the stream finishes."""
        ...


class AnswerEvents(Protocol):
    """What the payloads of one answer mean. Knows the shapes of one wire, not the network."""

    @property
    def stopped(self) -> bool:
        """The model said why it stopped."""
        ...

    @property
    def done(self) -> bool:
        """The closing mark came; nothing after it counts."""
        ...

    def read(self, data: bytes) -> list[StreamEvent]:
        """The events of one payload. Raises ``AnswerFailed`` for an error in it, ``StreamUnreadable``."""
        ...

    def take(self, payload: Mapping[str, Any]) -> list[StreamEvent]:
        """The events of an answer that came whole. Raises as ``read``."""
        ...


async def read_answer(
    response: httpx.Response, framing: Framing, answer: AnswerEvents, limits: StreamLimits, asked_at: float
) -> AsyncGenerator[StreamBatch, None]:
    """Raises ``WireError`` and what httpx raises, after everything that came before; closes the response."""
    try:
        body = TimedBody(_pieces(response), limits, asked_at)
        if _is_whole(response):
            yield await _whole(body, answer)
            return
        async with aclosing(_streamed(body, framing, answer)) as batches:
            async for batch in batches:
                yield batch
    finally:
        await response.aclose()


async def _streamed(
    body: TimedBody, framing: Framing, answer: AnswerEvents
) -> AsyncGenerator[StreamBatch, None]:
    """Until the closing mark, the end of the body, or silence after a finish reason."""
    while not answer.done:
        try:
            piece = await body.next()
        except StreamSilent:
            if answer.stopped:
                return
            raise
        events, failure = _read_piece(piece, framing, answer)
        if events:
            body.heard(stopped=answer.stopped)
            yield tuple(events)
        if failure is not None:
            raise failure
        if piece is None:
            if framing.skipped and not framing.found:
                raise StreamUnreadable("no event in the whole answer")
            return
    await body.drain()


def _read_piece(
    piece: bytes | None, framing: Framing, answer: AnswerEvents
) -> tuple[list[StreamEvent], WireError | None]:
    """The events in a piece, None being the end, and the failure that stood behind them."""
    events: list[StreamEvent] = []
    try:
        for data in framing.finish() if piece is None else framing.feed(piece):
            if answer.done:
                break
            events.extend(answer.read(data))
    except WireError as error:
        return events, error
    return events, None


async def _whole(body: TimedBody, answer: AnswerEvents) -> StreamBatch:
    """The answer of a server that does not stream, or that reports an error in a 200."""
    payload = decode(b"".join([piece async for piece in body]))
    if not isinstance(payload, dict):
        raise StreamUnreadable("the answer is no object")
    failure = read_payload(payload)
    if failure is not None:
        raise AnswerFailed(failure)
    return tuple(answer.take(payload))


def _is_whole(response: httpx.Response) -> bool:
    kind = response.headers.get("content-type", "")
    return "json" in kind and "ndjson" not in kind


def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    """As they come; httpx would cut and count what needs neither."""
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    assert isinstance(response.stream, httpx.AsyncByteStream)
    return aiter(response.stream)
