"""An event loop on which time passes only when nobody has anything to do, and on which a thread is a moment of it.

What runs on it is the same at every run: no thread races another, no wait takes real time. A loop on which nothing can
ever happen again says so instead of waiting.
"""

from __future__ import annotations

import asyncio
import contextvars
import selectors
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any

import pytest
from anyio._core._eventloop import get_async_backend

SLOWEST_THREAD = 0.05
"""Seconds of virtual time that work in a thread may take."""


class StandsStill(Exception):
    """Everybody waits, and nothing is left that could wake anybody."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """``random`` says how long work in threads takes: an order of events for each seed."""

    def __init__(self, random: Random) -> None:
        self._passed = 0.0
        self._random = random
        super().__init__(_Jump(self._jump))

    def time(self) -> float:
        return self._passed

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """The work is done when it is asked for; only that it is done is told later."""
        future = self.create_future()
        try:
            told = partial(_set, future.set_result, future, func(*args))
        except Exception as error:  # noqa: BLE001 - it is told to whoever waits
            told = partial(_set, future.set_exception, future, error)
        self.call_later(self._random.random() * SLOWEST_THREAD, told)
        return future

    def _jump(self, seconds: float) -> None:
        self._passed += seconds

    def _write_to_self(self) -> None:
        """There is no other thread that would have to be woken from."""


class LoopClock:
    """The clock of such a loop."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 14, 0, tzinfo=UTC) + timedelta(seconds=self._loop.time())

    def monotonic(self) -> float:
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@contextmanager
def virtual_loop(random: Random) -> Iterator[VirtualLoop]:
    """Threads of anyio are work of the loop, too, for as long as the block lasts."""
    loop = VirtualLoop(random)

    async def in_loop(
        func: Callable[..., Any],
        args: tuple[Any, ...],
        abandon_on_cancel: bool = False,
        limiter: object = None,
    ) -> Any:
        context = contextvars.copy_context()
        work: Awaitable[Any] = loop.run_in_executor(None, partial(context.run, func, *args))
        return await (work if abandon_on_cancel else asyncio.shield(work))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(get_async_backend("asyncio"), "run_sync_in_worker_thread", staticmethod(in_loop))
        try:
            yield loop
        finally:
            loop.close()


class _Jump(selectors.SelectSelector):
    """Waits for nothing: what would be waited for is over at once."""

    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise StandsStill("Everybody waits for ever.")
        self._jump(max(0.0, timeout))
        return []


def _set(tell: Callable[[Any], None], future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        tell(value)
