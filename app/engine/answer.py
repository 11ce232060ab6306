"""One answer of a model while it arrives: what it has said so far and what that amounts to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.engine.assembly import CallAssembler
from app.engine.events import Event, ReasoningDelta, TextDelta, ToolDelta
from app.engine.messages import Block, Message, Origin, Reasoning, Text, ToolCall
from app.engine.provider import (
    CallFragment,
    ReasoningChunk,
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
    _parts: list[_Part] = field(default_factory=list)
    _has_calls: bool = False

    def take(self, batch: StreamBatch) -> Iterator[Event]:
        """Add one batch. Neighbouring pieces of text become one event."""
        text: list[str] = []
        for item in batch:
            if isinstance(item, TextChunk):
                text.append(item.text)
                continue
            if text:
                yield self._say("".join(text))
                text.clear()
            if isinstance(item, ReasoningChunk):
                yield from self._think(item)
            elif isinstance(item, CallFragment):
                self._has_calls = True
                call_id = self._calls.add(item)
                if call_id is not None:
                    yield ToolDelta(call_id, item.name or "", item.arguments or "")
            elif isinstance(item, UsageReport):
                self.usage = item
            else:
                self.stop = item.reason
        if text:
            yield self._say("".join(text))

    @property
    def has_content(self) -> bool:
        """Text or a call has been shown: from here on nobody may start over silently."""
        return self._has_calls or bool(self.text.strip())

    @property
    def text(self) -> str:
        return "".join(part.text for part in self._parts if part.kind == "text")

    @property
    def output(self) -> str:
        """All the model wrote, thinking included; for estimates."""
        return "".join(part.text for part in self._parts)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in declared order; broken ones carry their problem."""
        return self._calls.finish(self.stop)

    def message(self, *, time: str, origin: Origin, calls: tuple[ToolCall, ...] = ()) -> Message | None:
        """What to store, or None where there is nothing to say: thinking alone is no answer."""
        blocks: list[Block] = [block for part in self._parts if (block := part.block()) is not None]
        blocks.extend(calls)
        if all(isinstance(block, Reasoning) for block in blocks):
            return None
        return Message("assistant", tuple(blocks), self.message_id, time, origin)

    def _say(self, text: str) -> TextDelta:
        self._part("text").pieces.append(text)
        return TextDelta(text, self.message_id)

    def _think(self, chunk: ReasoningChunk) -> Iterator[Event]:
        part = self._part("reasoning")
        part.pieces.append(chunk.text)
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
