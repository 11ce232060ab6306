"""The fake's OpenAI chat-completions dialect: steps of a script become events, or one whole answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.fakes import strict_chat, strict_thinking
from tests.fakes.http_wire import Request
from tests.fakes.llm_script import Step

STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class Voice:
    """One streamed answer: what its next step is on the wire."""

    def __init__(self, model: str, steps: Sequence[Step]) -> None:
        self._model = model

    def say(self, step: Step) -> bytes:
        match step:
            case {"text": text}:
                return self._delta({"content": text})
            case {"reasoning": text}:
                return self._delta({"reasoning_content": text})
            case {"call": fragment}:
                return self._delta({"tool_calls": [_fragment(fragment)]})
            case {"finish": reason}:
                return self._delta({}, reason)
            case {"usage": counts}:
                return _data({**_chunk(self._model, None), "choices": [], "usage": _usage(counts)})
            case {"error": error}:
                return _data({"error": error})
            case {"chunk": payload}:
                return _data(payload)
            case {"done": _}:
                return b"data: [DONE]\n\n"
            case _:
                raise ValueError(f"no such step in this dialect: {step}")

    def _delta(self, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        return _data(_chunk(self._model, delta, finish))


def whole(steps: Iterable[Step], model: str) -> dict[str, Any]:
    """The same steps as the answer to a request without ``stream``."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    answer: dict[str, Any] = {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1,
        "model": model,
    }
    reason = None
    for step in steps:
        match step:
            case {"text": text}:
                message["content"] = (message["content"] or "") + text * step.get("times", 1)
            case {"reasoning": text}:
                message["reasoning_content"] = message.get("reasoning_content", "") + text
            case {"call": fragment}:
                _merge(calls.setdefault(fragment.get("index", 0), _fragment({})), fragment)
            case {"finish": reason}:
                pass
            case {"usage": counts}:
                answer["usage"] = _usage(counts)
            case {"error": error}:
                return {"error": error}
            case {"chunk": payload}:
                return dict(payload)
            case _:
                pass
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**answer, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def failure(error: Mapping[str, Any], status: int) -> dict[str, Any]:
    return {
        "error": {
            "message": error["message"],
            "type": error.get("type"),
            "param": None,
            "code": error.get("code"),
        }
    }


def refusal(request: Request) -> str | None:
    return strict_chat.refusal(request.body) or strict_thinking.refusal(
        request.path, json.loads(request.body)
    )


def last_said(body: Mapping[str, Any]) -> str | None:
    last = next((one["content"] for one in reversed(body["messages"]) if one["role"] == "user"), "")
    return last if isinstance(last, str) else None


def models(names: Iterable[str]) -> dict[str, Any]:
    listed = [{"id": name, "object": "model", "created": 1, "owned_by": "fake"} for name in names]
    return {"object": "list", "data": listed}


def _chunk(model: str, delta: Mapping[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
        "choices": [choice],
    }


def _fragment(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {key: call[key] for key in ("name", "arguments") if key in call}
    outer = {key: call[key] for key in ("index", "id", "extra_content") if key in call}
    return {**outer, **({"type": "function"} if "id" in call else {}), "function": function}


def _merge(whole: dict[str, Any], fragment: Mapping[str, Any]) -> None:
    whole["type"] = "function"
    whole["id"] = fragment.get("id") or whole.get("id")
    function = whole["function"]
    function["name"] = fragment.get("name") or function.get("name")
    function["arguments"] = function.get("arguments", "") + (fragment.get("arguments") or "")


def _usage(counts: Mapping[str, Any]) -> dict[str, Any]:
    total = counts["input"] + counts.get("cached", 0)
    return {
        "prompt_tokens": total,
        "completion_tokens": counts["output"],
        "total_tokens": total + counts["output"],
        "prompt_tokens_details": {"cached_tokens": counts.get("cached", 0)},
    }


def _data(payload: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"
