"""The fake's OpenAI Responses dialect: steps of a script become the events of a response, or one whole response.

Thinking is sealed for its model and its text, and what it led to names it: an item of another server or model, one
that was changed, and one that lost its thinking are refused, as the real API does.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes import strict_responses
from tests.fakes.http_wire import Request
from tests.fakes.llm_script import Step

STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}
LED_TO = re.compile(r"\w+_after_(rs_\d+)")

Event = dict[str, Any]

_fresh = itertools.count(1)


class Voice:
    """One streamed response: what its next step is on the wire."""

    def __init__(self, model: str, steps: Sequence[Step]) -> None:
        self._model = model
        self._usage = next((step["usage"] for step in steps if "usage" in step), None)
        self._open: dict[str, Any] | None = None
        self._output: list[dict[str, Any]] = []
        self._thought = ""
        self._number = 0
        self._started = False

    def say(self, step: Step) -> bytes:
        return b"".join(_encoded(event) for event in self.events(step))

    def events(self, step: Step) -> list[Event]:
        match step:
            case {"chunk": payload}:
                return [payload]
            case {"usage": _}:
                return []
        begin = (
            [] if self._started else [{"type": "response.created", "response": self._response("in_progress")}]
        )
        self._started = True
        return self._numbered([*begin, *self._events(step)])

    def _events(self, step: Step) -> list[Event]:
        match step:
            case {"text": text}:
                return self._grow("message", "response.output_text.delta", text)
            case {"refusal": text}:
                return self._grow("message", "response.refusal.delta", text)
            case {"reasoning": text}:
                return self._grow("reasoning", "response.reasoning_summary_text.delta", text)
            case {"sealed": _}:
                return [*self._end(), *self._begin(self._new("reasoning")), *self._end()]
            case {"call": fragment}:
                return self._call(fragment)
            case {"finish": reason}:
                return [*self._end(), self._finish(reason)]
            case {"error": error}:
                return [
                    {
                        "type": "error",
                        "code": error.get("code") or error.get("type"),
                        "message": error["message"],
                    }
                ]
            case {"done": _}:
                return []
            case _:
                raise ValueError(f"no such step in this dialect: {step}")

    def _numbered(self, events: list[Event]) -> list[Event]:
        numbered = [{**event, "sequence_number": self._number + place} for place, event in enumerate(events)]
        self._number += len(events)
        return numbered

    def _grow(self, kind: str, delta: str, text: str) -> list[Event]:
        begin = []
        if self._open is None or self._open["type"] != kind:
            begin = [*self._end(), *self._begin(self._new(kind))]
        assert self._open is not None
        self._open["text"] += text
        return [*begin, self._at({"type": delta, "item_id": self._open["id"], "delta": text})]

    def _call(self, fragment: Mapping[str, Any]) -> list[Event]:
        begin = []
        if "name" in fragment:
            call = {**self._new("function_call"), "call_id": fragment["id"], "name": fragment["name"]}
            begin = [*self._end(), *self._begin(call)]
        assert self._open is not None
        piece = fragment.get("arguments", "")
        self._open["text"] += piece
        delta = {
            "type": "response.function_call_arguments.delta",
            "item_id": self._open["id"],
            "delta": piece,
        }
        return [*begin, self._at(delta)]

    def _new(self, kind: str) -> dict[str, Any]:
        after = f"_after_{self._thought}" if self._thought and kind != "reasoning" else ""
        name = {"message": "msg", "reasoning": "rs", "function_call": "fc"}[kind]
        return {"id": f"{name}_{next(_fresh)}{after}", "type": kind, "text": ""}

    def _begin(self, item: dict[str, Any]) -> list[Event]:
        self._open = item
        added = {**_item(item, self._model), "status": "in_progress"}
        if item["type"] == "reasoning":
            added = {"id": item["id"], "type": "reasoning", "summary": []}
        return [self._at({"type": "response.output_item.added", "item": added})]

    def _end(self) -> list[Event]:
        if self._open is None:
            return []
        done = _item(self._open, self._model)
        event = self._at({"type": "response.output_item.done", "item": done})
        self._output.append(done)
        self._thought = done["id"] if done["type"] == "reasoning" else ""
        self._open = None
        return [event]

    def _at(self, event: Event) -> Event:
        return {**event, "output_index": len(self._output)}

    def _finish(self, reason: str) -> Event:
        if reason not in CUT:
            return {"type": "response.completed", "response": self._response("completed")}
        why = {"incomplete_details": {"reason": CUT[reason]}}
        return {"type": "response.incomplete", "response": {**self._response("incomplete"), **why}}

    def _response(self, status: str) -> dict[str, Any]:
        usage = None if self._usage is None or status == "in_progress" else _usage(self._usage)
        response = {"id": "resp_fake", "object": "response", "model": self._model, "status": status}
        return {
            **response,
            "error": None,
            "incomplete_details": None,
            "output": list(self._output),
            "usage": usage,
        }


def whole(steps: Sequence[Step], model: str) -> dict[str, Any]:
    """The same steps as the answer to a request without ``stream``."""
    voice = Voice(model, steps)
    events = [event for step in steps for _ in range(step.get("times", 1)) for event in voice.events(step)]
    found: dict[str, Any] = next((one["response"] for one in reversed(events) if "response" in one), {})
    return found


def failure(error: Mapping[str, Any], status: int) -> dict[str, Any]:
    kind, code = error.get("type"), error.get("code")
    return {"error": {"message": error["message"], "type": kind, "param": None, "code": code}}


def refusal(request: Request) -> str | None:
    return strict_responses.refusal(request.body) or _foreign(json.loads(request.body))


def seal(model: str, id: str, text: str) -> str:
    return "gAAA" + hashlib.sha256(f"{model}\n{id}\n{text}".encode()).hexdigest()


def last_said(body: Mapping[str, Any]) -> str | None:
    said = next(item["content"] for item in reversed(body["input"]) if item.get("role") == "user")
    text: str | None = said[0].get("text") if len(said) == 1 else None
    return text


def _foreign(body: Mapping[str, Any]) -> str | None:
    """Why thinking, or what it led to, is not what this server said."""
    thought: set[str] = set()
    for item in body["input"]:
        id = item.get("id", "")
        if item["type"] == "reasoning":
            thought.add(id)
            text = "".join(part["text"] for part in item["summary"])
            if item["encrypted_content"] != seal(body["model"], id, text):
                return f"The encrypted content for item {id} could not be verified."
        elif (needs := LED_TO.fullmatch(id)) and needs[1] not in thought:
            kind = f"Item '{id}' of type '{item['type']}'"
            return f"{kind} was provided without its required 'reasoning' item: '{needs[1]}'."
    return None


def _item(item: Mapping[str, Any], model: str) -> dict[str, Any]:
    base, text = {"id": item["id"], "type": item["type"]}, item["text"]
    match item["type"]:
        case "reasoning":
            summary = [{"type": "summary_text", "text": text}] if text else []
            return {**base, "summary": summary, "encrypted_content": seal(model, item["id"], text)}
        case "function_call":
            call = {"call_id": item["call_id"], "name": item["name"], "arguments": text}
            return {**base, "status": "completed", **call}
        case _:
            content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
            return {
                **base,
                "role": "assistant",
                "status": "completed",
                "content": content,
                "phase": "final_answer",
            }


def _usage(counts: Mapping[str, Any]) -> dict[str, Any]:
    total = counts["input"] + counts.get("cached", 0)
    return {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": counts.get("cached", 0)},
        "output_tokens": counts["output"],
        "output_tokens_details": {"reasoning_tokens": counts.get("thought", 0)},
        "total_tokens": total + counts["output"],
    }


def _encoded(event: Event) -> bytes:
    return f"event: {event.get('type', 'message')}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()
