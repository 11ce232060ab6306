"""One answer of a model while it arrives: what it has said so far and what that amounts to.

An answer may take two streams: one that met its output limit is written on in the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from app.engine.assembly import CallAssembler
from app.engine.continuation import Seam
from app.engine.events import Event, ReasoningDelta, TextDelta, ToolDelta
from app.engine.messages import Block, Message, Origin, Reasoning, Text, ToolCall
from app.engine.provider import (
    CallFragment,
    ReasoningChunk,
    Stop,
    StopReason,
    StreamBatch,
    TextChunk,
    UsageReport,
)


@dataclass(slots=True)
class Answer:
    """Collects the batches of one stream; ``take`` says what to show, ``message`` what to store."""

    message_id: str
    _calls: CallAssembler
    usage: UsageReport | None = None
    stop: StopReason | None = None
    _earlier: tuple[_Part, ...] = ()
    _seam: Seam | None = None
    _parts: list[_Part] = field(default_factory=list)
    _has_calls: bool = False
    size: int = 0
    """Characters of this stream, thinking and arguments included."""

    def written_on(self, calls: CallAssembler) -> Answer:
        """The same answer for the stream that goes on with it: what it repeats of this one is left out."""
        parts = (*self._earlier, *self._parts)
        text = "".join(part.text for part in parts if part.kind == "text")
        return Answer(self.message_id, calls, _earlier=parts, _seam=Seam(text))

    def take(self, batch: StreamBatch) -> Iterator[Event]:
        """Add one batch. Neighbouring pieces of text become one event."""
        text: list[str] = []
        for item in batch:
            if isinstance(item, TextChunk):
                text.append(item.text)
                continue
            if text:
                yield from self._say("".join(text))
                text.clear()
            if isinstance(item, ReasoningChunk):
                yield from self._think(item)
            elif isinstance(item, CallFragment):
                self._has_calls = True
                self.size += len(item.arguments or "")
                call_id = self._calls.add(item)
                if call_id is not None:
                    yield ToolDelta(call_id, item.name or "", item.arguments or "")
            elif isinstance(item, UsageReport):
                self.usage = item
            elif isinstance(item, Stop):
                self.stop = item.reason
        if text:
            yield from self._say("".join(text))

    def end(self) -> Iterator[Event]:
        """The stream is over; what was held back at the seam is shown."""
        if self._seam is not None:
            held, self._seam = self._seam.finish(), None
            yield from self._say(held)

    @property
    def has_content(self) -> bool:
        """Text or a call of this stream has been shown: from here on nobody may start over silently."""
        return self._has_calls or any(part.kind == "text" and part.text.strip() for part in self._parts)

    @property
    def met_its_limit(self) -> bool:
        """It is a text that ends where the model had no room left."""
        return self.stop == "output_limit" and not self._has_calls and bool(self.text.strip())

    @property
    def text(self) -> str:
        return "".join(part.text for part in self._all_parts if part.kind == "text")

    @property
    def output(self) -> str:
        """All the model wrote in this stream, thinking and arguments included; for estimates."""
        return "".join(part.text for part in self._parts) + self._calls.written

    @property
    def _all_parts(self) -> Iterator[_Part]:
        return chain(self._earlier, self._parts)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in declared order; broken ones carry their problem."""
        return self._calls.finish(self.stop)

    def message(self, *, time: str, origin: Origin, calls: tuple[ToolCall, ...] = ()) -> Message | None:
        """What to store, or None where there is nothing to say: thinking alone is no answer."""
        blocks: list[Block] = []
        for part in self._all_parts:
            block, before = part.block(), blocks[-1] if blocks else None
            if isinstance(block, Text) and isinstance(before, Text):
                blocks[-1] = Text(before.text + block.text)
            elif block is not None:
                blocks.append(block)
        blocks.extend(calls)
        if all(isinstance(block, Reasoning) for block in blocks):
            return None
        return Message("assistant", tuple(blocks), self.message_id, time, origin)

    def _say(self, text: str) -> Iterator[TextDelta]:
        if self._seam is not None:
            text = self._seam.feed(text)
        if text:
            self.size += len(text)
            self._part("text").pieces.append(text)
            yield TextDelta(text, self.message_id)

    def _think(self, chunk: ReasoningChunk) -> Iterator[Event]:
        part = self._part("reasoning")
        part.pieces.append(chunk.text)
        self.size += len(chunk.text)
        part.signature = chunk.signature or part.signature
        if chunk.data is not None:
            part.data = chunk.data
            part.closed = True
        if chunk.text:
            yield ReasoningDelta(chunk.text, self.message_id)

    def _part(self, kind: str) -> _Part:
        if not self._parts or self._parts[-1].kind != kind or self._parts[-1].closed:
            self._parts.append(_Part(kind))
        return self._parts[-1]


@dataclass(slots=True)
class _Part:
    kind: str
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    data: object = None
    closed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def block(self) -> Block | None:
        text = self.text
        if self.kind == "reasoning":
            data = self.data if isinstance(self.data, dict) else None
            return Reasoning(text, self.signature, data) if text or self.signature or data else None
        return Text(text) if text.strip() else None
