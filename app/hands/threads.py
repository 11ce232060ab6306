"""Blocking work in a thread that ends with its caller: a cancelled call leaves nothing running."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from app.hands.errors import Stopped

T = TypeVar("T")

CheckStop = Callable[[], None]
"""Called by the work between its pieces; raises ``Stopped`` once nobody waits for the result."""


async def in_thread(work: Callable[[CheckStop], T]) -> T:
    """Run ``work`` in a thread. Cancelled, it tells the work to stop and returns when it has ended."""
    return await _Job(work).run()


class _Job(Generic[T]):
    def __init__(self, work: Callable[[CheckStop], T]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._ended = anyio.Event()
        self._turn = threading.Lock()
        self._begun = False
        self._cancelled = False

    async def run(self) -> T:
        try:
            return await to_thread.run_sync(self._in_thread, abandon_on_cancel=True)
        except asyncio.CancelledError:
            with self._turn:
                self._cancelled = True
            if self._begun:
                with anyio.CancelScope(shield=True):
                    await self._ended.wait()
            raise

    def _in_thread(self) -> T:
        with self._turn:
            self._check()
            self._begun = True
        try:
            return self._work(self._check)
        finally:
            self._loop.call_soon_threadsafe(self._ended.set)

    def _check(self) -> None:
        if self._cancelled:
            raise Stopped
