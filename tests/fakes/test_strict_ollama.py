"""What the strict reading of Ollama's chat refuses; a checker that accepts everything would prove nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.pictures import PIXEL, encoded, gif
from tests.fakes.strict_ollama import refusal

Body = dict[str, Any]
Change = Callable[[Body], Any]


def call(id: str, name: str = "read_file", arguments: Any = None) -> Body:
    return {"id": id, "function": {"name": name, "arguments": {} if arguments is None else arguments}}


GOOD: Body = {
    "model": "m",
    "stream": True,
    "options": {"num_ctx": 8192},
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "", "images": [PIXEL]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm.",
            "tool_calls": [call("a"), call("b", "stat_file")],
        },
        {"role": "tool", "content": "A", "tool_name": "read_file", "tool_call_id": "a"},
        {"role": "tool", "content": "B", "tool_name": "stat_file", "tool_call_id": "b"},
        {"role": "user", "content": "Go on"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ],
}


def message(place: int, **fields: Any) -> Change:
    return lambda body: body["messages"][place].update(fields)


def without(*places: int) -> Change:
    def change(body: Body) -> None:
        body["messages"] = [one for place, one in enumerate(body["messages"]) if place not in places]

    return change


BAD: dict[str, tuple[Change, str]] = {
    "an unknown field": (lambda body: body.update(max_tokens=1), "unknown field"),
    "an unknown option": (lambda body: body["options"].update(max_tokens=1), "unknown field"),
    "a limit that is no number": (lambda body: body["options"].update(num_predict="5"), "whole number"),
    "no model": (lambda body: body.pop("model"), "model"),
    "no messages": (lambda body: body.update(messages=[]), "not empty"),
    "an unknown role": (message(1, role="human"), "unknown"),
    "an unknown field of a message": (message(5, name="x"), "unknown field"),
    "null": (message(2, content=None), "unmarshal"),
    "content in parts": (message(5, content=[{"type": "text", "text": "a"}]), "unmarshal"),
    "blank text": (message(5, content=" "), "not empty"),
    "an assistant last": (without(3, 4, 5), "last message"),
    "a picture as a URL": (message(1, images=[f"data:image/png;base64,{PIXEL}"]), "base64"),
    "a picture it does not read": (message(1, images=[encoded(gif(1, 1))]), "cannot be read"),
    "no pictures in the list": (message(1, images=[]), "not empty"),
    "blank thinking": (message(2, thinking=""), "not empty"),
    "arguments as text": (message(2, tool_calls=[call("a", arguments="{}")]), "as an object"),
    "a call as others spell it": (
        message(2, tool_calls=[{**call("a"), "type": "function"}]),
        "unknown field",
    ),
    "a name that is no name": (message(2, tool_calls=[call("a", "two words")]), "name"),
    "no calls in the list": (message(2, tool_calls=[]), "not empty"),
    "an id twice": (message(2, tool_calls=[call("a"), call("a")]), "used before"),
    "a result missing": (without(4), "without results"),
    "a result without a call": (without(2), "without a call"),
    "a result of another tool": (message(4, tool_name="read_file"), "was due"),
    "a result without a name": (message(3, tool_name=""), "tool_name"),
    "a blank result": (message(3, content=""), "not empty"),
    "a user twice": (without(2, 3, 4), "in a row"),
    "an assistant first": (without(1), "first message"),
    "calls without tools": (lambda body: body.pop("tools"), "without tools"),
    "half a character": (message(5, content="\ud83d"), "surrogate"),
}


def test_a_good_request_is_accepted() -> None:
    assert refusal(json.dumps(GOOD).encode()) is None


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_refused_with_its_reason(case: str) -> None:
    change, reason = BAD[case]
    body = copy.deepcopy(GOOD)
    change(body)
    assert reason in (refusal(json.dumps(body).encode()) or "")
