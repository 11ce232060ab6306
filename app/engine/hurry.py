"""The user's impatience, as one run sees it: a wait for a model that is busy ends at once, and it is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Hurry:
    """Asked for any number of times, from any task of the same event loop; outside of a wait it means nothing."""

    def __init__(self) -> None:
        self._wait: asyncio.Timeout | None = None

    def now(self) -> bool:
        """Whether there was a wait to end."""
        wait, self._wait = self._wait, None
        if wait is None:
            return False
        wait.reschedule(asyncio.get_running_loop().time())
        return True

    @asynccontextmanager
    async def wait(self) -> AsyncIterator[None]:
        """Await inside this block: ``now`` ends it, and the block is left as if it had ended by itself."""
        wait = self._wait = asyncio.timeout(None)
        try:
            async with wait:
                yield
        except TimeoutError:
            if not wait.expired():
                raise
        finally:
            self._wait = None
