"""Keeps the marker that gives the floor back out of sight: what may be one is held back, and dropped if it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.engine import events as engine
from app.group_chat.handback import LONGEST, read_handback, safe_length

_LOOKED_AT = 4 * LONGEST
"""Characters at the end of a text among which a marker would be."""


class Veil:
    """Over the events of one run whose member holds the floor."""

    def __init__(self) -> None:
        self.is_handback = False
        """Once the run has ended: its last words were the marker."""
        self._message = ""
        self._text = ""
        self._shown = 0

    def lift(self, event: engine.Event) -> Iterator[engine.Event]:
        """The event as it may be seen now, and before it what had been held back and is seen after all."""
        match event:
            case engine.TextDelta():
                if event.message_id != self._message:
                    yield from self._rest(self._text)
                    self._message, self._text, self._shown = event.message_id, "", 0
                self._text += event.text
                before = max(0, len(self._text) - _LOOKED_AT)
                end = self._text[before:]
                yield from self._up_to(before + len(end[: safe_length(end)].rstrip()))
            case engine.Done():
                self.is_handback, shown = read_handback(self._text)
                yield from self._rest(shown)
                yield replace(event, text=shown) if self.is_handback else event
            case engine.Usage() | engine.ReasoningDelta():
                yield event
            case _:
                yield from self._rest(self._text)
                yield event

    def _rest(self, text: str) -> Iterator[engine.Event]:
        yield from self._up_to(len(text))

    def _up_to(self, length: int) -> Iterator[engine.Event]:
        if length > self._shown:
            yield engine.TextDelta(self._text[self._shown : length], self._message)
            self._shown = length
