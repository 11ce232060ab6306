"""Tasks owned by a block that may yield while they run.

An ``asyncio.TaskGroup`` or an anyio cancel scope must not stay open across the ``yield`` of an async
generator: it would cancel the consumer's task. A crew never cancels its host; it only ends its own tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any


class Crew:
    """``async with Crew() as crew``: every task started in it has ended when the block is left."""

    def __init__(self) -> None:
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
        await asyncio.gather(*self._tasks, return_exceptions=True)
