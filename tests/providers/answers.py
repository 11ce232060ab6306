"""A streamed answer, collected as a run would, and how it ended."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from app.engine.assembly import CallAssembler
from app.engine.errors import ProviderError
from app.engine.messages import Message, Text, ToolCall
from app.engine.provider import (
    CallFragment,
    ModelRequest,
    Provider,
    ReasoningChunk,
    Stop,
    StopReason,
    StreamBatch,
    StreamEvent,
    TextChunk,
    ToolDefinition,
    UsageReport,
)

NOON = "2026-11-30T12:00:00.000Z"
READ_FILE = ToolDefinition(
    "read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)


def said(text: str, number: int = 1) -> Message:
    return Message("user", (Text(text),), f"m{number}", NOON)


def ask(*messages: Message, **fields: Any) -> ModelRequest:
    base: dict[str, Any] = {"model": "fake-model", "system": "Be brief.", "tools": (READ_FILE,)}
    return ModelRequest(messages=messages or (said("Hello"),), **{**base, **fields})


@dataclass
class Collected:
    """Everything a consumer saw."""

    batches: list[StreamBatch] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def events(self) -> list[StreamEvent]:
        return [event for batch in self.batches for event in batch]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextChunk))

    @property
    def reasoning(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ReasoningChunk))

    @property
    def usage(self) -> UsageReport | None:
        return next((event for event in reversed(self.events) if isinstance(event, UsageReport)), None)

    @property
    def stop(self) -> StopReason | None:
        return next((event.reason for event in self.events if isinstance(event, Stop)), None)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        assembler = CallAssembler()
        for event in self.events:
            if isinstance(event, CallFragment):
                assembler.add(event)
        return assembler.finish(self.stop)

    @property
    def end(self) -> str:
        """In the words of ``stream_traces.jsonl``."""
        if self.error is not None:
            return "error"
        match self.stop:
            case "output_limit" | "filtered" | "refused" | "pause" as other:
                return other
            case _ if not self.text and not self.calls:
                return "empty"
            case None:
                return "interrupted"
            case _:
                return "complete"


async def collect(wire: Provider, request: ModelRequest | None = None) -> Collected:
    found = Collected()
    try:
        async with aclosing(wire.stream(request or ask())) as batches:
            async for batch in batches:
                found.batches.append(batch)
    except ProviderError as error:
        found.error = error
    return found
