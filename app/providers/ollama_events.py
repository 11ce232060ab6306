"""Lines of Ollama's chat, or one whole answer, as stream events. Knows the shapes, not the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.engine.provider import ReasoningChunk, Stop, StopReason, StreamEvent, TextChunk, UsageReport
from app.engine.surrogates import HalfJoiner, scrub
from app.providers.errors import AnswerFailed
from app.providers.failures import read_payload
from app.providers.fragments import read_calls
from app.providers.payloads import decode


class OllamaEvents:
    """See ``AnswerEvents``. Calls come whole, one after the other."""

    def __init__(self) -> None:
        self._halves = HalfJoiner()
        self._calls = 0
        self.stopped = False

    @property
    def done(self) -> bool:
        """The line that says why it stopped is the last one."""
        return self.stopped

    def read(self, data: bytes) -> list[StreamEvent]:
        payload = decode(data)
        return self.take(payload) if isinstance(payload, dict) else []

    def take(self, payload: Mapping[str, Any]) -> list[StreamEvent]:
        failure = read_payload(payload)
        if failure is not None:
            raise AnswerFailed(failure)
        message = payload.get("message")
        events = self._message(message) if isinstance(message, dict) else []
        if payload.get("done") is True:
            self.stopped = True
            half = self._halves.finish()
            events += [TextChunk(half)] if half else []
            events.append(Stop(self._reason(payload.get("done_reason"))))
            events += _counts(payload)
        return events

    def _message(self, message: Mapping[str, Any]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        thinking, said = _text(message, "thinking"), self._halves.feed(_text(message, "content"))
        if thinking:
            events.append(ReasoningChunk(scrub(thinking)))
        if said:
            events.append(TextChunk(said))
        for call in read_calls(message.get("tool_calls"), numbered=True):
            events.append(replace(call, index=self._calls))
            self._calls += 1
        return events

    def _reason(self, reason: Any) -> StopReason:
        if reason == "length":
            return "output_limit"
        return "tool_calls" if self._calls else "end"


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    return value if isinstance(value, str) else ""


def _counts(payload: Mapping[str, Any]) -> list[StreamEvent]:
    """What the cache served is part of what was read where a server says how much that is, and nowhere else."""
    names = ("prompt_eval_count", "eval_count", "prompt_eval_cached_count")
    counted = [payload.get(name) for name in names]
    read, written, cached = (count if isinstance(count, int) else 0 for count in counted)
    cached = min(cached, read)
    return [UsageReport(read - cached, written, cached)] if read or written else []
