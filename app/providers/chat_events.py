"""Payloads of a chat-completions stream, or one whole answer, as stream events. Knows the shapes, not the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.engine.provider import (
    ReasoningChunk,
    Stop,
    StopReason,
    StreamEvent,
    TextChunk,
)
from app.engine.surrogates import HalfJoiner, scrub_value
from app.providers.classify import Symptom
from app.providers.dialects import Dialect
from app.providers.errors import AnswerFailed
from app.providers.failures import read_payload
from app.providers.fragments import add_details, read_calls, read_legacy_call
from app.providers.payloads import decode
from app.providers.usage import read_usage

DONE = b"[DONE]"

STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "length": "output_limit",
    "max_tokens": "output_limit",
    "model_length": "output_limit",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filtered",
    "safety": "filtered",
    "sensitive": "filtered",
    "refusal": "refused",
}
"""Finish reasons; one that is not listed says only that the model came to an end."""

FAILURES: Mapping[str, str] = {"insufficient_system_resource": "overloaded", "abort": "server_error"}
"""Finish reasons that are failures of the server, with the code they amount to."""


class ChatEvents:
    """One answer. ``read`` takes the data of one event each; ``stopped`` and ``done`` say how far it came."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._halves = HalfJoiner()
        self._thinking: dict[str, Any] | None = None
        self._refused = False
        self._said = self._called = False
        self.stopped = False
        """A finish reason came."""
        self.done = False
        """The closing mark came; nothing after it counts."""

    def read(self, data: bytes) -> list[StreamEvent]:
        """The events of one payload. Raises ``AnswerFailed`` for an error in it, ``StreamUnreadable``."""
        if data == DONE:
            return self._finish()
        payload = decode(data)
        return self.take(payload) if isinstance(payload, dict) else []

    def take(self, payload: Mapping[str, Any]) -> list[StreamEvent]:
        """As ``read``, of a payload that is decoded already."""
        events: list[StreamEvent] = []
        choices = payload.get("choices")
        if not choices or "error" in payload:
            failure = read_payload(payload)
            if failure is not None:
                raise AnswerFailed(failure)
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                self._take_choice(choice, events)
        self._take_usage(payload, events)
        return events

    def _take_choice(self, choice: Mapping[str, Any], events: list[StreamEvent]) -> None:
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._take_thinking(delta, events)
            content = delta.get("content")
            if content:
                self._take_content(content, events)
            if delta.get("refusal"):
                self._take_refusal(delta["refusal"], events)
            if delta.get("tool_calls") or delta.get("function_call"):
                self._take_calls(delta, events, whole="message" in choice)
        if "usage" in choice:
            self._take_usage(choice, events)
        finish = choice.get("finish_reason")
        if finish or "error" in choice:
            self._take_finish(choice, finish, events)

    def _take_usage(self, holder: Mapping[str, Any], events: list[StreamEvent]) -> None:
        usage = read_usage(holder)
        if usage is not None:
            events.append(usage)

    def _take_content(self, content: Any, events: list[StreamEvent]) -> None:
        if not isinstance(content, str):
            self._take_parts(content, events)
            return
        self._close_thinking(events)
        text = self._halves.feed(content)
        if text:
            self._said = True
            events.append(TextChunk(text))

    def _take_parts(self, content: Any, events: list[StreamEvent]) -> None:
        """Content as a list: text is text, thinking is thinking, what else there may be is left out."""
        for part in content if isinstance(content, list) else ():
            match part:
                case {"type": "text", "text": str(text)}:
                    self._take_content(text, events)
                case {"type": "thinking", "thinking": list(inner)}:
                    texts = (one.get("text") for one in inner if isinstance(one, dict))
                    said = "".join(text for text in texts if isinstance(text, str))
                    events.append(ReasoningChunk(self._halves.feed(said)))
                case _:
                    pass

    def _take_thinking(self, delta: Mapping[str, Any], events: list[StreamEvent]) -> None:
        for field in self._dialect.reasoning:
            value = delta.get(field)
            if not value:
                continue
            self._thinking = {} if self._thinking is None else self._thinking
            if isinstance(value, list):
                add_details(self._thinking.setdefault(field, []), value)
            elif isinstance(value, str) and self._thinking.setdefault("field", field) == field:
                events.append(ReasoningChunk(self._halves.feed(value)))

    def _close_thinking(self, events: list[StreamEvent]) -> None:
        if self._thinking is not None:
            events.append(ReasoningChunk(self._halves.finish(), data=scrub_value(self._thinking)))
            self._thinking = None

    def _take_refusal(self, refusal: Any, events: list[StreamEvent]) -> None:
        self._refused = True
        self._take_content(refusal, events)

    def _take_calls(self, delta: Mapping[str, Any], events: list[StreamEvent], *, whole: bool) -> None:
        self._close_thinking(events)
        self._called = True
        events.extend(read_calls(delta.get("tool_calls"), numbered=whole))
        events.extend(read_legacy_call(delta.get("function_call")))

    def _take_finish(self, choice: Mapping[str, Any], finish: Any, events: list[StreamEvent]) -> None:
        if choice.get("error") or finish == "error":
            raise AnswerFailed(read_payload({"choices": [choice]}) or Symptom())
        if str(finish) in FAILURES:
            raise AnswerFailed(Symptom(None, FAILURES[str(finish)], f"the answer ended with {finish}"))
        if finish and not self.stopped:
            self.stopped = True
            self._close(events)
            reason = STOPS.get(str(finish).lower(), "end")
            events.append(Stop("refused" if self._refused and reason == "end" else reason))

    def _finish(self) -> list[StreamEvent]:
        """The closing mark. Without a finish reason before it, it ends a text but makes no call complete."""
        events: list[StreamEvent] = []
        self._close(events)
        if self._said and not self._called and not self.stopped:
            events.append(Stop("end"))
        self.done = self.stopped = True
        return events

    def _close(self, events: list[StreamEvent]) -> None:
        self._close_thinking(events)
        half = self._halves.finish()
        if half:
            events.append(TextChunk(half))
