"""Messages that arrive while a run goes on, folded in at its next boundary."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.messages import Image


@dataclass(frozen=True, slots=True)
class UserInput:
    """What the user says to a run. ``id`` becomes the id of its message in the session."""

    text: str
    id: str
    images: tuple[Image, ...] = ()


Hear = Callable[[Sequence[UserInput]], Awaitable[None]]
"""Stores what was said in the session, durably, or raises and has stored nothing."""


class Steering(Protocol):
    """The list of waiting messages. It keeps each one until the session has stored it."""

    async def fold_in(self, hear: Hear) -> Sequence[UserInput]:
        """Give all that wait to ``hear``, oldest first and together, and take off the list what it has stored.

        Nobody changes or removes one of them meanwhile. Returns them; none where none wait, then ``hear`` is not
        called.
        """
        ...


class NoSteering:
    """For a run that nobody steers."""

    async def fold_in(self, hear: Hear) -> Sequence[UserInput]:
        return ()
