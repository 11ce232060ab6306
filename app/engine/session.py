"""Where one member's history lives. ``Session`` is the seam; this file has its two homes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.engine.messages import Message


class Session(Protocol):
    """One history as its model sees it: always paired, in declared order."""

    @property
    def id(self) -> str: ...

    @property
    def messages(self) -> Sequence[Message]:
        """The whole history; calls and results stand as ``pairing`` demands, except at an open last step."""
        ...

    async def append(self, *messages: Message) -> None:
        """Store at the end, durably and all together, before returning. Raises ``SessionError``; then nothing was added."""
        ...

    async def mark_started(self, call_id: str) -> None:
        """Journal, durably, that a mutating call is about to run: without a result it becomes "outcome unknown"."""
        ...
