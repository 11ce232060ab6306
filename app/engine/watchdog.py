"""The watchdog of a tool: nobody waits for ever for one that shows no progress.

A tool with a limit of its own, as a command has, watches itself by the same rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

IDLE_LIMIT = 30 * 60.0
"""Seconds without progress after which a call is ended."""


class Stalled(Exception):
    """Nothing happened within the limit."""


@dataclass(slots=True)
class Watchdog:
    """Counts anew whenever it is shown something that it has not just seen: a heartbeat is no progress."""

    limit: float
    _timeout: asyncio.Timeout | None = None
    _seen: tuple[str | None, int | None, int | None] = (None, None, None)

    @property
    def deadline(self) -> float | None:
        """When it will end the block, in the time of the event loop; None outside of one."""
        return self._timeout.when() if self._timeout is not None else None

    def progress(self, text: str | None, done: int | None, total: int | None) -> None:
        text = text if text and text.strip() else None
        shown = (text, done, total)
        if shown in ((None, None, None), self._seen):
            return
        self._seen = shown
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self.limit)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Await inside this block; it leaves as ``Stalled`` once the limit is reached."""
        timeout = asyncio.timeout(self.limit)
        try:
            async with timeout:
                self._timeout = timeout
                try:
                    yield
                finally:
                    self._timeout = None
        except TimeoutError:
            if timeout.expired():
                raise Stalled from None
            raise
