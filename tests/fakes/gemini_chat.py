"""The fake's dialect of Google's Gemini: steps of a script become chunks of candidates. Calls come whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.fakes.http_wire import Request
from tests.fakes.llm_script import Step

STREAM = {"content-type": "text/event-stream"}
STOPS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
STATUSES = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}


class Voice:
    """One streamed answer: what its next step is on the wire."""

    def __init__(self, model: str, steps: Sequence[Step]) -> None:
        self._call: dict[str, str] = {}

    def say(self, step: Step) -> bytes:
        match step:
            case {"text": text}:
                return _data(_candidate({"text": text}))
            case {"reasoning": text}:
                return _data(_candidate({"text": text, "thought": True}))
            case {"call": fragment}:
                return self._take(fragment)
            case {"finish": reason}:
                return _data({"candidates": [{"content": {}, "finishReason": STOPS.get(reason, reason)}]})
            case {"usage": counts}:
                return _data({"candidates": [], "usageMetadata": _usage(counts)})
            case {"error": error}:
                return _data(failure(error, 500))
            case {"chunk": payload}:
                return _data(payload)
            case {"done": _}:
                return b""
            case _:
                raise ValueError(f"no such step in this dialect: {step}")

    def _take(self, fragment: Mapping[str, Any]) -> bytes:
        """A call is said as soon as its arguments are whole."""
        if "name" in fragment:
            self._call = {"name": fragment["name"], "arguments": ""}
        self._call["arguments"] += fragment.get("arguments", "")
        try:
            arguments = json.loads(self._call["arguments"])
        except ValueError:
            return b""
        return _data(_candidate({"functionCall": {"name": self._call["name"], "args": arguments}}))


def failure(error: Mapping[str, Any], status: int) -> dict[str, Any]:
    kind = error.get("type") or STATUSES.get(status, "UNAVAILABLE")
    return {"error": {"code": status, "message": error["message"], "status": kind}}


def refusal(request: Request) -> str | None:
    """What the real API says of a history without turns, or of one in which nobody said anything."""
    contents = json.loads(request.body).get("contents")
    if not contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    if contents[0].get("role") == "model" or not all(turn.get("parts") for turn in contents):
        return "Please ensure that multiturn requests begin with a user turn and that no turn is empty."
    return None


def last_said(body: Mapping[str, Any]) -> str | None:
    parts = next(turn["parts"] for turn in reversed(body["contents"]) if turn.get("role") == "user")
    text: str | None = parts[0].get("text")
    return text


def models(names: Iterable[str]) -> dict[str, Any]:
    return {"models": [{"name": f"models/{name}", "displayName": name} for name in names]}


def _candidate(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [dict(part)]}}]}


def _usage(counts: Mapping[str, int]) -> dict[str, int]:
    total = counts["input"] + counts["output"]
    return {
        "promptTokenCount": counts["input"],
        "candidatesTokenCount": counts["output"],
        "totalTokenCount": total,
    }


def _data(payload: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"
