"""Time as a value that is passed in, so that tests run on virtual time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the app asks of time."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only go up; for durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable at any moment."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def iso(moment: datetime) -> str:
    """``2026-11-30T14:10:24.871Z``: UTC with milliseconds, as pages and transcripts write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
