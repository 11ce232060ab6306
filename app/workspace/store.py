"""What every function of this room works with: the database, the clock and the source of ids."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.infra.clock import Clock, iso
from app.infra.ids import NewId
from app.models.database import Database

_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Store:
    """Passed as first argument; each function that changes something is one transaction."""

    database: Database
    clock: Clock
    new_id: NewId

    def now(self) -> str:
        return iso(self.clock.now())

    def after(self, last: str) -> str:
        """Now, or a millisecond after ``last`` where the clock stands still or was set back."""
        now = self.clock.now()
        return iso(max(now, datetime.fromisoformat(last) + _TICK))
