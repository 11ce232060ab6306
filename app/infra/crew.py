"""Tasks owned by a block that may yield while they run.

An ``asyncio.TaskGroup`` or an anyio cancel scope must not stay open across the ``yield`` of an async
generator: it would cancel the consumer's task. A crew never cancels its host; it only ends its own tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any

import anyio

from app.infra.logs import failure

GRACE = 0.8
"""Seconds: a stop has to be over within one."""


class Crew:
    """``async with Crew() as crew``: every task started in it has ended when the block is left.

    One that swallows its cancellation is left behind after a grace, and that is logged: nobody waits for ever.
    A host that is cancelled while it waits goes on waiting, and is cancelled then.
    """

    def __init__(self, grace: float = GRACE) -> None:
        self._grace = grace
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], *, name: str | None = None) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        return task

    async def __aenter__(self) -> Crew:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        cancelled = None if self._all_done() else await self._wait()
        for task in self._tasks:
            if not task.done():
                failure("task_left_behind", RuntimeError(task.get_name()))
            elif not task.cancelled():
                task.exception()  # looked at, so that nobody is warned of it
        if cancelled is not None:
            raise cancelled

    async def _wait(self) -> asyncio.CancelledError | None:
        """Until all have ended or the grace is over; the cancellation of the host that came meanwhile."""
        now = asyncio.get_running_loop().time
        until, cancelled = now() + self._grace, None
        # The shield keeps an anyio scope from cancelling again at every turn of the loop.
        with anyio.CancelScope(shield=True):
            while (left := until - now()) > 0 and not self._all_done():
                try:
                    await asyncio.wait(self._tasks, timeout=left)
                except asyncio.CancelledError as error:
                    cancelled = error
        return cancelled

    def _all_done(self) -> bool:
        return all(task.done() for task in self._tasks)
