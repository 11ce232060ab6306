"""Reads one chat-completions answer off a response: batches of events, one for each read of the network."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx

from app.engine.provider import StreamBatch, StreamEvent
from app.providers.chat_events import ChatEvents, decode
from app.providers.dialects import Dialect
from app.providers.errors import AnswerFailed, StreamSilent, StreamUnreadable, WireError
from app.providers.failures import read_payload
from app.providers.sse import SseReader
from app.providers.stream_limits import StreamLimits, TimedBody


async def read_answer(
    response: httpx.Response, dialect: Dialect, limits: StreamLimits, asked_at: float
) -> AsyncGenerator[StreamBatch, None]:
    """Raises ``WireError`` and what httpx raises, after everything that came before; closes the response."""
    try:
        body = TimedBody(_pieces(response), limits, asked_at)
        if "json" in response.headers.get("content-type", ""):
            yield await _whole(body, dialect)
            return
        async with aclosing(_streamed(body, dialect)) as batches:
            async for batch in batches:
                yield batch
    finally:
        await response.aclose()


async def _streamed(body: TimedBody, dialect: Dialect) -> AsyncGenerator[StreamBatch, None]:
    """Until the closing mark, the end of the body, or silence after a finish reason."""
    reader, chat = SseReader(), ChatEvents(dialect)
    while not chat.done:
        try:
            piece = await body.next()
        except StreamSilent:
            if chat.stopped:
                return
            raise
        events, failure = _read_piece(piece, reader, chat)
        if events:
            body.heard(stopped=chat.stopped)
            yield tuple(events)
        if failure is not None:
            raise failure
        if piece is None:
            if reader.skipped and not reader.found:
                raise StreamUnreadable("no event in the whole answer")
            return
    await body.drain()


def _read_piece(
    piece: bytes | None, reader: SseReader, chat: ChatEvents
) -> tuple[list[StreamEvent], WireError | None]:
    """The events in a piece, None being the end, and the failure that stood behind them."""
    events: list[StreamEvent] = []
    try:
        for data in reader.finish() if piece is None else reader.feed(piece):
            if chat.done:
                break
            events.extend(chat.read(data))
    except WireError as error:
        return events, error
    return events, None


async def _whole(body: TimedBody, dialect: Dialect) -> StreamBatch:
    """The answer of a server that does not stream, or that reports an error in a 200."""
    payload = decode(b"".join([piece async for piece in body]))
    if not isinstance(payload, dict):
        raise StreamUnreadable("the answer is no object")
    failure = read_payload(payload)
    if failure is not None:
        raise AnswerFailed(failure)
    return tuple(ChatEvents(dialect).take(payload))


def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
