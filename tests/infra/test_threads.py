"""Work in a thread ends before its caller goes on, also when the caller is cancelled."""

from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from app.infra.crew import Crew
from app.infra.threads import to_the_end

pytestmark = pytest.mark.anyio


class Slow:
    """Work that takes until it is released, and what came of it."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.release = threading.Event()
        self.thens: list[int] = []
        self.left: list[str] = []

    def work(self) -> int:
        self.loop.call_soon_threadsafe(self.begun.set)
        assert self.release.wait(10)
        return 7

    async def call(self) -> None:
        try:
            await to_the_end(self.work, then=self.thens.append)
        except asyncio.CancelledError:
            self.left.append("cancelled")
            raise


async def test_the_result_comes_back_after_then_has_seen_it() -> None:
    seen: list[int] = []
    assert await to_the_end(lambda: 7, then=seen.append) == 7
    assert seen == [7]


async def test_an_error_of_the_work_is_raised_and_then_is_not_called() -> None:
    seen: list[float] = []
    with pytest.raises(ZeroDivisionError):
        await to_the_end(lambda: 1 / 0, then=seen.append)
    assert seen == []


async def test_a_cancelled_task_waits_for_its_work_however_often_it_is_cancelled() -> None:
    slow = Slow()
    async with Crew() as crew:
        task = crew.start(slow.call())
        await slow.begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert not task.done()
        assert slow.thens == []
        slow.release.set()
        await asyncio.wait([task])
    assert task.cancelled()
    assert (slow.thens, slow.left) == ([7], ["cancelled"])


async def test_a_cancelled_scope_waits_for_the_work_inside_it() -> None:
    slow = Slow()
    async with anyio.create_task_group() as group:
        group.start_soon(slow.call)
        await slow.begun.wait()
        group.cancel_scope.cancel()
        slow.loop.call_soon(slow.loop.call_soon, slow.loop.call_soon, slow.release.set)
    assert (slow.thens, slow.left) == ([7], ["cancelled"])


async def test_a_cancellation_is_not_lost_behind_an_error() -> None:
    slow = Slow()
    async with Crew() as crew:
        task = crew.start(to_the_end(lambda: slow.work() / 0, then=slow.thens.append))
        await slow.begun.wait()
        task.cancel()
        await asyncio.sleep(0)
        slow.release.set()
        await asyncio.wait([task])
    assert task.cancelled()
    assert slow.thens == []
