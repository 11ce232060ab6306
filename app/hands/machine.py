"""What this machine gives to the members of every conversation: how commands run, their jobs, what is masked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import anyio

from app.hands.jobs import Jobs
from app.hands.permissions.confinement import Confinement
from app.hands.terminal_text import Redact


class FoundConfinement:
    """Looks for a confinement when somebody first asks, once for all who ask."""

    def __init__(self, find: Callable[[], Awaitable[Confinement]]) -> None:
        self._find = find
        self._lock = anyio.Lock()
        self.known: Confinement | None = None
        """Once it has been asked for."""

    async def get(self) -> Confinement:
        async with self._lock:
            if self.known is None:
                self.known = await self._find()
            return self.known


@dataclass(frozen=True, slots=True)
class Machine:
    """One for the whole process."""

    environment: Mapping[str, str]
    """The app's own, of which a command is told little."""
    redact: Redact
    """Masks the keys that are known now, and what looks like one."""
    redact_known: Redact
    """Masks the keys that are known, and nothing that only looks like one: for files, which are written back."""
    jobs: Jobs
    confinement: FoundConfinement
    """How commands are confined here."""
