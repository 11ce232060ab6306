"""Messages that arrive while a run goes on, folded in at its next boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.messages import Image


@dataclass(frozen=True, slots=True)
class UserInput:
    """What the user says to a run. ``id`` becomes the id of its message in the session."""

    text: str
    id: str
    images: tuple[Image, ...] = ()


class Steering(Protocol):
    """The list of waiting messages. It keeps each one until the session has stored it."""

    def waiting(self) -> Sequence[UserInput]:
        """All that wait, oldest first; asking changes nothing."""
        ...

    async def stored(self, inputs: Sequence[UserInput]) -> None:
        """The session holds these now; they leave the list."""
        ...


class NoSteering:
    """For a run that nobody steers."""

    def waiting(self) -> Sequence[UserInput]:
        return ()

    async def stored(self, inputs: Sequence[UserInput]) -> None:
        return None
