"""The wires' errors, as a map. None of them leaves this room: a wire turns each into the engine's ``ProviderError``.

SpokenElsewhere          The server has this model answer under another path.
WireError
├── AnswerFailed         The server began well and then said what went wrong.
├── PageInstead          A web page came where an answer was due.
├── StreamUnreadable     What arrived is no stream of answers.
├── NoPicture            What came is no picture that can be used.
│   └── AddressInstead   Where a picture was due, the server says where it keeps one.
└── StreamSilent         Nothing of an answer arrived within a time limit.
    └── StillAtWork      The same, while the server showed that it was there.
"""

from __future__ import annotations

from app.providers.classify import Symptom


class SpokenElsewhere(Exception):
    """The server has this model answer under another path: nothing failed, it is asked there."""


class WireError(Exception):
    """Anything that ends a stream although the network still works."""


class AnswerFailed(WireError):
    """The server began well and then said what went wrong: an error inside a 200."""

    def __init__(self, symptom: Symptom) -> None:
        super().__init__(symptom.message)
        self.symptom = symptom


class PageInstead(WireError):
    """A web page came where an answer was due: a sign-in page of the network, or the wrong address."""


class StreamUnreadable(WireError):
    """What arrived is no stream of answers: not JSON, an event without an end."""


class NoPicture(WireError):
    """What came is no picture that can be used: of another kind, too large, or nothing at all."""


class AddressInstead(NoPicture):
    """Where a picture was due, the server says where it keeps one. Addresses that a server names are not fetched."""


class StreamSilent(WireError):
    """Nothing of an answer arrived within a time limit, in seconds. Comments are nothing."""

    def __init__(self, phase: str, seconds: float) -> None:
        super().__init__(f"{phase}: {seconds:g} s")
        self.phase = phase
        self.seconds = seconds


class StillAtWork(StreamSilent):
    """The same, while the server showed that it was there: it began an answer, or kept the connection alive."""
