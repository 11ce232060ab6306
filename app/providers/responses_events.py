"""Events of an OpenAI response, or one whole response, as stream events. Knows the shapes, not the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.engine.provider import CallFragment, ReasoningChunk, Stop, StopReason, StreamEvent, TextChunk
from app.engine.surrogates import HalfJoiner, scrub, scrub_value
from app.providers.classify import Symptom
from app.providers.errors import AnswerFailed
from app.providers.failures import read_payload
from app.providers.payloads import decode
from app.providers.usage import read_usage

DONE = b"[DONE]"
"""Some servers say so, as their chat completions do."""

INCOMPLETE: Mapping[str, StopReason] = {"content_filter": "filtered"}
"""Why a response was cut off; any other reason is a limit of its length."""


@dataclass(slots=True)
class _Item:
    """One item of the response. What was streamed of it is not read again from its end."""

    halves: HalfJoiner = field(default_factory=HalfJoiner)
    streamed: bool = False
    ended: bool = False


class ResponsesEvents:
    """See ``AnswerEvents``. Items keep their index: a call is known by it, and by what was thought right before."""

    def __init__(self) -> None:
        self._items: dict[int, _Item] = {}
        self._thought: list[str] = []
        """Ids of the items of thinking since the last other item."""
        self._has_thought = self._called = self._refused = False
        self.stopped = False
        self.done = False

    def read(self, data: bytes) -> list[StreamEvent]:
        if data == DONE:
            self.done = True
            return []
        payload = decode(data)
        match payload:
            case {"type": "response.output_item.added", "item": dict(item)}:
                return self._begin(_index(payload), item)
            case {"type": "response.output_item.done", "item": dict(item)}:
                return self._end(_index(payload), item)
            case {"type": "response.output_text.delta", "delta": str(text)}:
                return self._say(_index(payload), text)
            case {"type": "response.refusal.delta", "delta": str(text)}:
                self._refused = True
                return self._say(_index(payload), text)
            case {"type": "response.reasoning_summary_part.added", "summary_index": int(part)} if part > 0:
                return self._think(_index(payload), "\n\n")
            case {
                "type": "response.reasoning_summary_text.delta" | "response.reasoning_text.delta",
                "delta": str(text),
            }:
                return self._think(_index(payload), text)
            case {"type": "response.function_call_arguments.delta", "delta": str(piece)} if piece:
                self._item(_index(payload)).streamed = True
                return [CallFragment(_index(payload), arguments=piece)]
            case {
                "type": "response.completed" | "response.incomplete" | "response.failed",
                "response": dict(response),
            }:
                self.done = True
                return self._finish(response)
            case dict() if failure := read_payload(payload):
                raise AnswerFailed(failure)
            case _:
                return []

    def take(self, payload: Mapping[str, Any]) -> list[StreamEvent]:
        return self._finish(payload)

    def _item(self, index: int) -> _Item:
        return self._items.setdefault(index, _Item())

    def _begin(self, index: int, given: Mapping[str, Any]) -> list[StreamEvent]:
        if index in self._items:
            return []
        self._item(index)
        if given.get("type") == "reasoning":
            return []
        after, self._thought = self._thought, []
        match given:
            case {"type": "function_call"}:
                self._called = True
                own = {"id": scrub(_text(given, "id")), "after": after}
                added = {name: value for name, value in own.items() if value}
                id = scrub(_text(given, "call_id")) or None
                return [CallFragment(index, id, _text(given, "name"), data=added or None)]
            case {"type": "message"} if self._has_thought or given.get("phase"):
                kept = {name: given[name] for name in ("type", "id", "phase") if given.get(name)}
                return [ReasoningChunk(data=scrub_value(kept))]
            case _:
                return []

    def _say(self, index: int, text: str) -> list[StreamEvent]:
        item = self._item(index)
        item.streamed = True
        text = item.halves.feed(text)
        return [TextChunk(text)] if text else []

    def _think(self, index: int, text: str) -> list[StreamEvent]:
        item = self._item(index)
        item.streamed = True
        text = item.halves.feed(text)
        return [ReasoningChunk(text)] if text else []

    def _end(self, index: int, given: Mapping[str, Any]) -> list[StreamEvent]:
        """What the item holds that was not streamed, and of thinking the item itself."""
        events = self._begin(index, given)
        item = self._item(index)
        if item.ended:
            return events
        item.ended = True
        match given:
            case {"type": "reasoning"}:
                self._has_thought = True
                self._thought += [id for id in (scrub(_text(given, "id")),) if id]
                text = item.halves.finish() if item.streamed else _thinking(given)
                events.append(ReasoningChunk(text, data=scrub_value(given)))
            case {"type": "function_call", "arguments": str(arguments)} if arguments and not item.streamed:
                events.append(CallFragment(index, arguments=arguments))
            case {"type": "message"} if not item.streamed:
                events += self._say(index, self._words(given))
        return events

    def _words(self, message: Mapping[str, Any]) -> str:
        self._refused |= any(part.get("type") == "refusal" for part in _parts(message, "content"))
        parts = _parts(message, "content")
        return "".join(_text(part, "text") or _text(part, "refusal") for part in parts)

    def _finish(self, response: Mapping[str, Any]) -> list[StreamEvent]:
        """The end of the response. Whatever no event told of stands in it."""
        status = response.get("status")
        if status in ("failed", "cancelled") or response.get("error"):
            raise AnswerFailed(read_payload(response) or Symptom(None, "server_error", f"response {status}"))
        events: list[StreamEvent] = []
        for index, given in enumerate(_parts(response, "output")):
            events += self._end(index, given)
        halves = (item.halves.finish() for item in self._items.values())
        events += [TextChunk(half) for half in halves if half]
        if status in ("completed", "incomplete"):
            self.stopped = True
            events.append(Stop(self._reason(response)))
        usage = read_usage(response)
        return [*events, usage] if usage else events

    def _reason(self, response: Mapping[str, Any]) -> StopReason:
        if response["status"] == "incomplete":
            details = response.get("incomplete_details")
            return INCOMPLETE.get(
                _text(details, "reason") if isinstance(details, dict) else "", "output_limit"
            )
        return "tool_calls" if self._called else "refused" if self._refused else "end"


def _index(payload: Mapping[str, Any]) -> int:
    index = payload.get("output_index")
    return index if isinstance(index, int) else 0


def _text(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def _parts(holder: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _thinking(item: Mapping[str, Any]) -> str:
    """The summary, else the thinking itself where a server shows it."""
    parts = _parts(item, "summary") or _parts(item, "content")
    return scrub("\n\n".join(_text(part, "text") for part in parts))
