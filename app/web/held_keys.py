"""Keys that were typed into a form which came back without script: a page never shows them, so they wait here."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from app.infra.clock import Clock

SECONDS = 600.0
MOST = 16


class HeldKeys:
    """In memory only, each under a ticket that the form brings along; the oldest make room."""

    def __init__(self, clock: Clock, new_ticket: Callable[[], str]) -> None:
        self._clock = clock
        self._new_ticket = new_ticket
        self._held: dict[str, tuple[str, float]] = {}

    def hold(self, key: str) -> str:
        """The ticket for it."""
        while len(self._held) >= MOST:
            del self._held[next(iter(self._held))]
        ticket = self._new_ticket()
        self._held[ticket] = (key, self._clock.monotonic() + SECONDS)
        return ticket

    def find(self, ticket: str) -> str | None:
        """The key, unless it waited for too long."""
        key, until = self._held.get(ticket, ("", -inf))
        if self._clock.monotonic() > until:
            self._held.pop(ticket, None)
            return None
        return key
