"""What tests of the store stand on: a clock set by hand and a data folder in a temporary place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.infra.paths import DataFolder


class HandClock:
    """Stands still until it is moved, in either direction."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 30, 14, 10, 24, 871_000, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.move(seconds=seconds)

    def move(self, **by: float) -> None:
        self.moment += timedelta(**by)


def counted_ids() -> Callable[[str], str]:
    """``msg_0001``, ``msg_0002``, …: one sequence for all prefixes."""
    count = 0

    def new_id(prefix: str) -> str:
        nonlocal count
        count += 1
        return f"{prefix}_{count:04d}"

    return new_id


def fresh_folder(root: Path) -> DataFolder:
    return DataFolder(root / "data").create()
