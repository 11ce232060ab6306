"""A body read under limits. The waits themselves are tested through the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.providers.errors import StillAtWork, StreamSilent, StreamUnreadable
from app.providers.stream_limits import LOCAL, StreamLimits, TimedBody, limits_for

pytestmark = pytest.mark.anyio


async def pieces(*given: bytes, then_silence: bool = False) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece
    if then_silence:
        await asyncio.Event().wait()


def body(stream: AsyncIterator[bytes], **limits: float) -> TimedBody:
    return TimedBody(stream, StreamLimits(**limits), asyncio.get_running_loop().time())


@pytest.mark.parametrize(
    ("address", "limits"),
    [
        ("http://localhost:11434", LOCAL),
        ("http://127.0.0.1:8080/v1", LOCAL),
        ("http://[::1]:8080", LOCAL),
        ("http://192.168.1.20:1234/v1", LOCAL),
        ("http://workshop.local:8080", LOCAL),
        ("https://8.8.8.8/v1", StreamLimits()),
        ("https://api.openai.com/v1", StreamLimits()),
        ("https://localhost.example/v1", StreamLimits()),
        ("https://127.example/v1", StreamLimits()),
    ],
)
async def test_a_server_of_ones_own_is_given_time_to_load_its_model(
    address: str, limits: StreamLimits
) -> None:
    assert limits_for(address) == limits


async def test_pieces_come_as_they_are_until_the_end() -> None:
    assert [piece async for piece in body(pieces(b"a", b"b"))] == [b"a", b"b"]


@pytest.mark.parametrize(
    ("heard", "limits", "phase"),
    [
        (None, {"first_token": 0.02}, "first token"),
        (False, {"between_tokens": 0.02}, "between tokens"),
        (True, {"after_stop": 0.02}, "after the end"),
        (None, {"total": 0.02}, "total"),
        (False, {"total": 0.02}, "total"),
    ],
)
async def test_silence_says_which_limit_was_reached(
    heard: bool | None, limits: dict[str, float], phase: str
) -> None:
    timed = body(pieces(b"a", then_silence=True), **limits)
    await timed.next()
    if heard is not None:
        timed.heard(stopped=heard)
    with pytest.raises(StreamSilent, match=r"0\.02 s") as silence:
        await timed.next()
    assert (silence.value.phase, silence.value.seconds) == (phase, 0.02)


@pytest.mark.parametrize(("came", "error"), [((), StreamSilent), ((b": keep-alive\n\n",), StillAtWork)])
async def test_silence_of_a_server_that_is_at_work_is_told_from_that_of_one_that_may_be_gone(
    came: tuple[bytes, ...], error: type[StreamSilent]
) -> None:
    timed = body(pieces(*came, then_silence=True), first_token=0.02)
    for _ in came:
        await timed.next()
    with pytest.raises(StreamSilent) as silence:
        await timed.next()
    assert silence.type is error


async def test_an_answer_without_an_end_is_stopped_by_its_size() -> None:
    timed = body(pieces(b"x" * 60, b"x" * 60), max_bytes=100)
    await timed.next()
    with pytest.raises(StreamUnreadable):
        await timed.next()


async def test_the_rest_behind_the_closing_mark_is_read_but_not_waited_for() -> None:
    stream = pieces(b"a", b"b", then_silence=True)
    await body(stream).drain()
    assert await anext(stream, None) is None
