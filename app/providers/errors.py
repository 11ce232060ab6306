"""The wires' errors, as a map. None of them leaves this room: a wire turns each into the engine's ``ProviderError``.

WireError
├── StreamUnreadable     What arrived is no stream of answers.
└── StreamSilent         Nothing of an answer arrived within a time limit.
"""

from __future__ import annotations


class WireError(Exception):
    """Anything that ends a stream although the network still works."""


class StreamUnreadable(WireError):
    """What arrived is no stream of answers: not JSON, HTML, an event without an end."""


class StreamSilent(WireError):
    """Nothing of an answer arrived within a time limit, in seconds. Comments are nothing."""

    def __init__(self, phase: str, seconds: float) -> None:
        super().__init__(f"{phase}: {seconds:g} s")
        self.phase = phase
        self.seconds = seconds
