"""The user's stop, as one run sees it: a flag that also ends whatever the run is waiting for."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from types import TracebackType

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

    def guard(self) -> AbstractAsyncContextManager[None]:
        """Await inside this block: the stop cancels the wait and leaves as ``Aborted``.

        The block must not yield to a consumer.
        """
        return _Guard(self, self._waits)


class _Guard(AbstractAsyncContextManager[None]):
    """Stands on ``asyncio.timeout`` without a deadline, whose cancellation of its own task is well defined also when
    others cancel that task at the same moment."""

    def __init__(self, abort: Abort, waits: set[asyncio.Timeout]) -> None:
        self._abort = abort
        self._waits = waits
        self._wait = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        self._abort.check()
        await self._wait.__aenter__()
        self._waits.add(self._wait)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waits.discard(self._wait)
        try:
            await self._wait.__aexit__(kind, error, trace)
        except TimeoutError:
            raise Aborted from None
