"""The user's stop, as one run sees it: a flag that also ends whatever the run is waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.engine.errors import Aborted


class Abort:
    """Set once, from any task of the same event loop; never cleared."""

    def __init__(self) -> None:
        self._is_set = False
        self._waits: set[asyncio.Timeout] = set()

    @property
    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        if self._is_set:
            return  # what was woken may still be tidying up, and must not be woken again
        self._is_set = True
        now = asyncio.get_running_loop().time()
        for wait in tuple(self._waits):
            wait.reschedule(now)

    def check(self) -> None:
        """Raise ``Aborted`` where the user has stopped the run."""
        if self._is_set:
            raise Aborted

    @asynccontextmanager
    async def guard(self) -> AsyncIterator[None]:
        """Await inside this block: the stop cancels the wait and leaves as ``Aborted``.

        The block must not yield to a consumer. It stands on ``asyncio.timeout`` without a deadline, whose
        cancellation of its own task is well defined also when others cancel that task at the same moment.
        """
        self.check()
        wait = asyncio.timeout(None)
        try:
            async with wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            if wait.expired():
                raise Aborted from None
            raise
