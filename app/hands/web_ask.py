"""Who allows a request before it goes out: once for each host, redirects included."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import anyio

from app.engine.tools import ToolContext
from app.hands.web_address import WebAddress

Ask = Callable[[WebAddress, ToolContext], Awaitable[None]]
"""Returns where a request may go to this address. Raises ``Refused`` where it may not."""


async def as_everywhere(address: WebAddress, context: ToolContext) -> None:
    """See ``Ask``: nobody is asked."""


class Visa:
    """What one call was allowed. Waiting for an answer does not count as time of the call."""

    def __init__(self, ask: Ask, context: ToolContext, time: anyio.CancelScope) -> None:
        self._ask = ask
        self._context = context
        self._time = time
        self._hosts: set[str] = set()

    async def get(self, address: WebAddress) -> None:
        """Ask for this address, unless its host was allowed before. Raises as ``Ask``."""
        if address.host in self._hosts:
            return
        left = self._time.deadline - anyio.current_time()
        self._time.deadline = math.inf
        await self._ask(address, self._context)
        self._time.deadline = anyio.current_time() + left
        self._hosts.add(address.host)
