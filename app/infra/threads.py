"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def to_the_end(work: Callable[[], T], then: Callable[[T], object] = lambda _: None) -> T:
    """Run ``work`` in a thread, then ``then`` with its result on the loop, and return that result.

    Neither can be cancelled half-way: a cancellation that comes meanwhile is raised when both are done.
    """
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        result = await asyncio.shield(future)
    except asyncio.CancelledError:
        await _ended(future)
        if future.exception() is None:
            then(future.result())
        raise
    then(result)
    return result


async def _ended(future: asyncio.Future[T]) -> None:
    # The shield keeps an anyio scope from cancelling again at every turn of the loop; a task that is cancelled
    # by itself once more goes on waiting, and its first cancellation is raised in the end.
    with anyio.CancelScope(shield=True):
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError:
                continue
