"""The fake's dialect of Ollama's own chat: steps of a script become lines of JSON, or one object. Calls come whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.fakes import strict_ollama
from tests.fakes.http_wire import Request
from tests.fakes.llm_script import Step

STREAM = {"content-type": "application/x-ndjson"}
STOPS = {"stop": "stop", "tool_calls": "stop"}
DATE = "2026-01-01T00:00:00Z"


class Voice:
    """One streamed answer: what its next step is on the wire."""

    def __init__(self, model: str, steps: Sequence[Step]) -> None:
        self._model = model
        self._usage = next((step["usage"] for step in steps if "usage" in step), None)
        self._call: dict[str, Any] = {}

    def say(self, step: Step) -> bytes:
        match step:
            case {"text": text}:
                return self._line({"content": text})
            case {"reasoning": text}:
                return self._line({"content": "", "thinking": text})
            case {"call": fragment}:
                return self._take(fragment)
            case {"finish": reason}:
                end = {"done": True, "done_reason": STOPS.get(reason, reason), **_counts(self._usage)}
                return self._line({"content": ""}, **end)
            case {"usage": _} | {"done": _}:
                return b""
            case {"error": error}:
                return _encoded(failure(error, 200))
            case {"chunk": payload}:
                return _encoded(payload)
            case _:
                raise ValueError(f"no such step in this dialect: {step}")

    def _take(self, fragment: Mapping[str, Any]) -> bytes:
        """A call is said as soon as its arguments are whole."""
        if "name" in fragment:
            self._call = {"name": fragment["name"], "id": fragment["id"], "arguments": ""}
        self._call["arguments"] += fragment.get("arguments", "")
        try:
            call = _call(self._call, fragment.get("index", 0))
        except ValueError:
            return b""
        return self._line({"content": "", "tool_calls": [call]})

    def _line(self, message: Mapping[str, Any], **more: Any) -> bytes:
        return _encoded(_answer(self._model, message, **{"done": False, **more}))


def whole(steps: Iterable[Step], model: str) -> dict[str, Any]:
    """The same steps as the answer to a request without ``stream``."""
    message: dict[str, Any] = {"content": ""}
    calls: list[dict[str, Any]] = []
    end: dict[str, Any] = {"done": True}
    for step in steps:
        match step:
            case {"text": text}:
                message["content"] += text * step.get("times", 1)
            case {"reasoning": text}:
                message["thinking"] = message.get("thinking", "") + text
            case {"call": {"name": name, "id": id}}:
                calls.append({"name": name, "id": id, "arguments": ""})
            case {"call": {"arguments": piece}}:
                calls[-1]["arguments"] += piece
            case {"finish": reason}:
                end["done_reason"] = STOPS.get(reason, reason)
            case {"usage": counts}:
                end |= _counts(counts)
            case {"error": error}:
                return failure(error, 200)
            case {"chunk": payload}:
                return dict(payload)
    if calls:
        message["tool_calls"] = [_call(call, place) for place, call in enumerate(calls)]
    return _answer(model, message, **end)


def failure(error: Mapping[str, Any], status: int) -> dict[str, Any]:
    return {"error": error["message"]}


def refusal(request: Request) -> str | None:
    return strict_ollama.refusal(request.body)


def last_said(body: Mapping[str, Any]) -> str | None:
    text: str = next(one["content"] for one in reversed(body["messages"]) if one["role"] == "user")
    return text


def models(names: Iterable[str]) -> dict[str, Any]:
    listed = [
        {"name": name, "model": name, "size": 1, "digest": "fake", "modified_at": DATE} for name in names
    ]
    return {"models": listed}


def _call(call: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Raises ``ValueError`` while the arguments are not whole."""
    function = {"index": index, "name": call["name"], "arguments": json.loads(call["arguments"])}
    return {"id": call["id"], "function": function}


def _answer(model: str, message: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": model, "created_at": DATE, "message": {"role": "assistant", **message}, **more}


def _counts(usage: Mapping[str, int] | None) -> dict[str, int]:
    if usage is None:
        return {}
    return {
        "total_duration": 1,
        "load_duration": 1,
        "prompt_eval_count": usage["input"],
        "eval_count": usage["output"],
    }


def _encoded(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload, separators=(",", ":")).encode() + b"\n"
