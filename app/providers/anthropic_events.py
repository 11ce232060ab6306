"""Events of an Anthropic message, or one whole message, as stream events. Knows the shapes, not the network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.engine.provider import CallFragment, ReasoningChunk, Stop, StopReason, StreamEvent, TextChunk
from app.engine.surrogates import HalfJoiner, scrub
from app.providers.errors import AnswerFailed, StreamUnreadable
from app.providers.failures import read_payload
from app.providers.payloads import decode
from app.providers.usage import read_disjoint_counts

STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "output_limit",
    "model_context_window_exceeded": "output_limit",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "refusal": "refused",
}
"""Stop reasons; one that is not listed says only that the model came to an end."""


@dataclass(slots=True)
class _Block:
    """One that was begun. Blocks of tools that the server runs itself are no concern of ours."""

    kind: str
    given: Mapping[str, Any]
    """As it stood at its start: some servers send it whole there."""
    halves: HalfJoiner = field(default_factory=HalfJoiner)
    signature: str = ""
    has_arguments: bool = False


class AnthropicEvents:
    """See ``AnswerEvents``. Calls keep the index of their block: servers may mix the pieces of several."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, Any] = {}
        self.stopped = False
        self.done = False

    def read(self, data: bytes) -> list[StreamEvent]:
        payload = decode(data)
        match payload:
            case {"type": "message_start", "message": {"usage": dict(usage)}}:
                self._count(usage)
                return []
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                return self._begin(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                return self._grow(index, delta)
            case {"type": "content_block_stop", "index": int(index)}:
                return self._end(index)
            case {"type": "message_delta", "delta": dict(delta)}:
                return self._finish(delta.get("stop_reason"), payload.get("usage"))
            case {"type": "message_stop"}:
                self.done = self.stopped = True
                return self._end_all()
            case dict() if failure := read_payload(payload):
                raise AnswerFailed(failure)
            case _:
                return []

    def take(self, payload: Mapping[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        content = payload.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                events += self._begin(index, block)
                events += self._end(index)
        return events + self._finish(payload.get("stop_reason"), payload.get("usage"))

    def _begin(self, index: int, given: Mapping[str, Any]) -> list[StreamEvent]:
        block = self._blocks[index] = _Block(_text(given, "type"), given, signature=_text(given, "signature"))
        match block.kind:
            case "text":
                return _said(block, _text(given, "text"))
            case "thinking":
                return _thought(block, _text(given, "thinking"))
            case "redacted_thinking":
                sealed = {"type": "redacted_thinking", "data": scrub(_text(given, "data"))}
                return [ReasoningChunk(data=sealed)]
            case "tool_use":
                id = scrub(_text(given, "id"))
                return [CallFragment(index, id or None, _text(given, "name"))]
            case _:
                return []

    def _grow(self, index: int, delta: Mapping[str, Any]) -> list[StreamEvent]:
        block = self._blocks.get(index)
        if block is None:
            raise StreamUnreadable("a piece of a block that was never begun")
        match block.kind, delta:
            case "text", {"type": "text_delta", "text": str(text)}:
                return _said(block, text)
            case "thinking", {"type": "thinking_delta", "thinking": str(text)}:
                return _thought(block, text)
            case "thinking", {"type": "signature_delta", "signature": str(piece)}:
                block.signature += piece
            case "tool_use", {"type": "input_json_delta", "partial_json": str(piece)} if piece:
                block.has_arguments = True
                return [CallFragment(index, arguments=piece)]
        return []

    def _end(self, index: int) -> list[StreamEvent]:
        block = self._blocks.pop(index, None)
        match block:
            case _Block("text") if half := block.halves.finish():
                return [TextChunk(half)]
            case _Block("thinking"):
                signed = {"type": "thinking", "signature": scrub(block.signature)}
                return [ReasoningChunk(block.halves.finish(), data=signed)]
            case _Block("tool_use", {"input": dict(given)}) if given and not block.has_arguments:
                return [CallFragment(index, arguments=json.dumps(given, ensure_ascii=False))]
            case _:
                return []

    def _end_all(self) -> list[StreamEvent]:
        return [event for index in sorted(self._blocks) for event in self._end(index)]

    def _finish(self, reason: Any, usage: Any) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if isinstance(reason, str) and not self.stopped:
            self.stopped = True
            events += self._end_all()
            events.append(Stop(STOPS.get(reason, "end")))
        if isinstance(usage, dict):
            self._count(usage)
            report = read_disjoint_counts(self._counts)
            events += [report] if report else []
        return events

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Counts are cumulative; what the end does not repeat was said at the start."""
        self._counts |= {name: count for name, count in usage.items() if count is not None}


def _said(block: _Block, text: str) -> list[StreamEvent]:
    text = block.halves.feed(text)
    return [TextChunk(text)] if text else []


def _thought(block: _Block, text: str) -> list[StreamEvent]:
    text = block.halves.feed(text)
    return [ReasoningChunk(text)] if text else []


def _text(block: Mapping[str, Any], name: str) -> str:
    value = block.get(name)
    return value if isinstance(value, str) else ""
