"""Work in a thread ends with its caller, however that one is cancelled."""

from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from app.hands.threads import CheckStop, in_thread
from app.infra.crew import Crew

pytestmark = pytest.mark.anyio


class Endless:
    """Work that goes on until it is told to stop."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = False

    def __call__(self, check_stop: CheckStop) -> None:
        self.begun.set()
        pause = threading.Event()
        try:
            while True:
                check_stop()
                pause.wait(0.001)
        finally:
            self.ended = True


async def begun(work: Endless) -> None:
    while not work.begun.is_set():
        await anyio.lowlevel.checkpoint()


async def test_the_result_comes_back() -> None:
    assert await in_thread(lambda check_stop: 42) == 42


async def test_an_error_comes_back() -> None:
    def fail(check_stop: CheckStop) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await in_thread(fail)


async def test_a_cancelled_scope_ends_the_work_before_it_is_left() -> None:
    work = Endless()
    async with anyio.create_task_group() as group:
        group.start_soon(in_thread, work)
        await begun(work)
        group.cancel_scope.cancel()
    assert work.ended


async def test_a_cancelled_task_ends_the_work_before_it_is_done() -> None:
    work = Endless()
    async with Crew() as crew:
        task = crew.start(in_thread(work))
        await begun(work)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert work.ended


async def test_work_that_has_not_begun_never_does() -> None:
    limiter = anyio.to_thread.current_default_thread_limiter()
    before, limiter.total_tokens = limiter.total_tokens, 1
    first, second = Endless(), Endless()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(in_thread, first)
            await begun(first)
            group.start_soon(in_thread, second)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    finally:
        limiter.total_tokens = before
    assert first.ended
    assert not second.begun.is_set()
