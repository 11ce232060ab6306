"""How long an answer through litellm may say nothing: to its first content, between pieces, and in all."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import anyio

from app.providers.errors import StreamSilent
from app.providers.stream_limits import StreamLimits

T = TypeVar("T")


class Silence:
    """Bounds each wait of one stream; only content breaks it."""

    def __init__(self, limits: StreamLimits) -> None:
        now = anyio.current_time()
        self._limits = limits
        self._phase, self._seconds = "first token", limits.first_token
        self._until = now + limits.first_token
        self._end = now + limits.total

    async def bounded(self, wait: Awaitable[T]) -> T:
        """The result of ``wait``. Raises ``StreamSilent`` when the limit of this phase passes first."""
        with anyio.move_on_after(min(self._until, self._end) - anyio.current_time()):
            return await wait
        if self._end <= self._until:
            raise StreamSilent("total", self._limits.total)
        raise StreamSilent(self._phase, self._seconds)

    def broken(self) -> None:
        """Content came."""
        self._phase, self._seconds = "between tokens", self._limits.between_tokens
        self._until = anyio.current_time() + self._limits.between_tokens
