"""The fake's Anthropic dialect: steps of a script become the events of a message, or one whole message.

A block of thinking is signed by its text, and one that comes back with another text is refused, as the real API does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.fakes import strict_anthropic
from tests.fakes.http_wire import Request
from tests.fakes.llm_script import Step

STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


Event = dict[str, Any]


class Voice:
    """One streamed answer: what its next step is on the wire."""

    def __init__(self, model: str, steps: Sequence[Step]) -> None:
        self._model = model
        self._usage = next((step["usage"] for step in steps if "usage" in step), {"input": 0, "output": 0})
        self._started = False
        self._count = 0
        self._open: dict[str, Any] | None = None

    def say(self, step: Step) -> bytes:
        return b"".join(_encoded(event) for event in self.events(step))

    def events(self, step: Step) -> list[Event]:
        """The first step of any content begins the message."""
        match step:
            case {"chunk": payload}:
                return [payload]
            case {"usage": _}:
                return []
        begin = [] if self._started else [self._message_start(), {"type": "ping"}]
        self._started = True
        return [*begin, *self._events(step)]

    def _events(self, step: Step) -> list[Event]:
        match step:
            case {"text": text}:
                return self._text("text", text)
            case {"reasoning": text}:
                return self._text("thinking", text, signature="")
            case {"sealed": data}:
                return [*self._begin({"type": "redacted_thinking", "data": data}), *self._end()]
            case {"call": fragment}:
                return self._call(fragment)
            case {"finish": reason}:
                stop = {"stop_reason": STOPS.get(reason, reason), "stop_sequence": None}
                usage = {"output_tokens": self._usage["output"]}
                return [*self._end(), {"type": "message_delta", "delta": stop, "usage": usage}]
            case {"done": _}:
                return [*self._end(), {"type": "message_stop"}]
            case {"error": error}:
                return [failure(error, 200)]
            case _:
                raise ValueError(f"no such step in this dialect: {step}")

    def _message_start(self) -> Event:
        message = {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
        }
        usage = {
            "input_tokens": self._usage["input"],
            "cache_creation_input_tokens": self._usage.get("written", 0),
            "cache_read_input_tokens": self._usage.get("cached", 0),
            "output_tokens": 1,
        }
        stop = {"stop_reason": None, "stop_sequence": None}
        return {"type": "message_start", "message": {**message, **stop, "usage": usage}}

    def _text(self, kind: str, text: str, **more: str) -> list[Event]:
        begin = []
        if self._open is None or self._open["type"] != kind:
            begin = self._begin({"type": kind, kind: "", **more})
        assert self._open is not None
        self._open[kind] += text
        return [*begin, self._delta({"type": f"{kind}_delta", kind: text})]

    def _call(self, fragment: Mapping[str, Any]) -> list[Event]:
        begin = []
        if "name" in fragment:
            begin = self._begin(
                {"type": "tool_use", "id": fragment["id"], "name": fragment["name"], "input": {}}
            )
        piece = fragment.get("arguments", "")
        return [*begin, self._delta({"type": "input_json_delta", "partial_json": piece})]

    def _begin(self, block: dict[str, Any]) -> list[Event]:
        end, self._open = self._end(), dict(block)
        self._count += 1
        return [*end, {"type": "content_block_start", "index": self._count - 1, "content_block": block}]

    def _delta(self, delta: Mapping[str, Any]) -> Event:
        return {"type": "content_block_delta", "index": self._count - 1, "delta": delta}

    def _end(self) -> list[Event]:
        if self._open is None:
            return []
        block, self._open = self._open, None
        signed = []
        if block["type"] == "thinking":
            signed = [self._delta({"type": "signature_delta", "signature": signature(block["thinking"])})]
        return [*signed, {"type": "content_block_stop", "index": self._count - 1}]


def whole(steps: Sequence[Step], model: str) -> dict[str, Any]:
    """The same steps as the answer to a request without ``stream``."""
    voice = Voice(model, steps)
    message: dict[str, Any] = {}
    content: list[dict[str, Any]] = []
    for event in (
        event for step in steps for _ in range(step.get("times", 1)) for event in voice.events(step)
    ):
        match event:
            case {"type": "message_start", "message": message}:
                pass
            case {"type": "content_block_start", "content_block": block}:
                content.append(dict(block))
            case {
                "type": "content_block_delta",
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }:
                content[-1]["json"] = content[-1].get("json", "") + piece
            case {"type": "content_block_delta", "delta": {"type": _, **grown}}:
                ((name, piece),) = grown.items()
                content[-1][name] += piece
            case {"type": "message_delta", "delta": delta, "usage": usage}:
                message = {**message, **delta, "usage": {**message["usage"], **usage}}
            case {"type": "content_block_stop"} if "json" in content[-1]:
                content[-1]["input"] = json.loads(content[-1].pop("json"))
            case {"type": "content_block_stop" | "message_stop" | "ping"}:
                pass
            case _:
                return event
    return {**message, "content": content}


def failure(error: Mapping[str, Any], status: int) -> dict[str, Any]:
    kind = error.get("type") or TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": error["message"]}, "request_id": "req_fake"}


def refusal(request: Request) -> str | None:
    if "anthropic-version" not in request.headers:
        return "anthropic-version: header is required"
    return strict_anthropic.refusal(request.body) or _forged(json.loads(request.body))


def signature(thinking: str) -> str:
    return "fake." + hashlib.sha256(thinking.encode()).hexdigest()


def last_said(body: Mapping[str, Any]) -> str | None:
    content = next(one["content"] for one in reversed(body["messages"]) if one["role"] == "user")
    texts = [content] if isinstance(content, str) else [block.get("text") for block in content]
    return texts[0] if len(texts) == 1 else None


def models(names: Iterable[str]) -> dict[str, Any]:
    date = "2026-01-01T00:00:00Z"
    listed = [{"type": "model", "id": name, "display_name": name, "created_at": date} for name in names]
    return {"data": listed, "has_more": False, "first_id": None, "last_id": None}


def _forged(body: Mapping[str, Any]) -> str | None:
    for place, message in enumerate(body["messages"]):
        for block in message["content"] if isinstance(message["content"], list) else ():
            mark = block.get("signature", "")
            if mark.startswith("fake.") and mark != signature(block["thinking"]):
                return f"messages.{place}: Invalid `signature` in `thinking` block"
    return None


def _encoded(event: Event) -> bytes:
    data = json.dumps(event, separators=(",", ":"))
    return f"event: {event.get('type', 'message')}\ndata: {data}\n\n".encode()
