"""A clock that moves only when somebody sleeps on it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio.lowlevel


class FakeClock:
    def __init__(self, start: datetime = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)) -> None:
        self._start = start
        self._passed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._passed += seconds
        await anyio.lowlevel.checkpoint()
