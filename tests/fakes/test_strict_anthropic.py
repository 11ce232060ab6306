"""What the strict reading of Anthropic's Messages refuses; a checker that accepts everything would prove nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.pictures import PIXEL, encoded, gif, png, png_head
from tests.fakes.strict_anthropic import refusal

Body = dict[str, Any]
Change = Callable[[Body], Any]

CACHED = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}


def text(words: str) -> Body:
    return {"type": "text", "text": words}


def use(id: str, name: str = "read_file", **fields: Any) -> Body:
    return {"type": "tool_use", "id": id, "name": name, "input": {}, **fields}


def result(id: str, **fields: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": id, "content": "A", **fields}


def image(data: str = PIXEL, media_type: str = "image/png", **fields: Any) -> Body:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data, **fields}}


GOOD: Body = {
    "model": "m",
    "max_tokens": 5,
    "stream": True,
    "system": [{**text("Be brief."), **CACHED}],
    "messages": [
        {"role": "user", "content": "Read two files."},
        {
            "role": "assistant",
            "content": [THOUGHT, {"type": "redacted_thinking", "data": "E"}, use("a"), use("b")],
        },
        {
            "role": "user",
            "content": [result("a"), result("b", is_error=True), image(), {**text("Go on"), **CACHED}],
        },
    ],
    "tools": [{"name": "read_file", "description": "", "input_schema": {"type": "object", "properties": {}}}],
}


def content(place: int, *blocks: Body) -> Change:
    """Replaces the blocks of a message."""
    return lambda body: body["messages"][place].update(content=list(blocks))


def roles(*names: str) -> Change:
    return lambda body: body.update(messages=[{"role": name, "content": "a"} for name in names])


BAD: dict[str, tuple[Change, str]] = {
    "an unknown field": (lambda body: body.update(max_completion_tokens=1), "unknown field"),
    "no model": (lambda body: body.pop("model"), "model"),
    "no room for an answer": (lambda body: body.pop("max_tokens"), "max_tokens"),
    "an answer of no token": (lambda body: body.update(max_tokens=0), "max_tokens"),
    "a blank system prompt": (lambda body: body.update(system=" "), "system"),
    "an empty system prompt": (lambda body: body.update(system=[]), "system"),
    "a picture as the system prompt": (lambda body: body.update(system=[image()]), "does not belong"),
    "no messages": (lambda body: body.update(messages=[]), "at least one message"),
    "the system prompt as a message": (roles("system", "user"), "role"),
    "results as messages of their own": (roles("user", "assistant", "tool"), "role"),
    "an assistant first": (roles("assistant", "user"), "first message"),
    "an assistant last": (roles("user", "assistant"), "end with a user"),
    "a user twice": (roles("user", "user"), "alternate"),
    "an unknown field of a message": (lambda body: body["messages"][0].update(id="m1"), "unknown field"),
    "no content": (content(0), "non-empty content"),
    "null": (lambda body: body["messages"][0].update(content=None), "non-empty content"),
    "blank text": (content(0, text(" \n")), "not empty"),
    "an unknown block": (content(0, {"type": "input_text", "text": "a"}), "does not belong"),
    "an unknown field of a block": (content(0, {**text("a"), "citations": None}), "unknown field"),
    "a call by the user": (content(0, use("a")), "does not belong"),
    "a picture by the assistant": (content(1, image()), "does not belong"),
    "a result missing": (content(2, result("a")), "were due"),
    "a result twice": (content(2, result("a"), result("b"), result("b")), "were due"),
    "results in another order": (content(2, result("b"), result("a")), "were due"),
    "a result without a call": (content(0, result("z")), "were due"),
    "text before the results": (content(2, text("a"), result("a"), result("b")), "before anything else"),
    "a blank result": (content(2, result("a", content=" "), result("b")), "not empty"),
    "an id twice": (content(1, use("a"), use("a")), "unique"),
    "an id that is no id": (content(1, use("a:0"), use("b")), "pattern"),
    "a name that is no name": (content(1, use("a", "two words"), use("b")), "name"),
    "arguments as text": (content(1, use("a", input="{}"), use("b")), "all of its fields"),
    "thinking without a signature": (
        content(1, {**THOUGHT, "signature": ""}, use("a"), use("b")),
        "signature",
    ),
    "thinking that is not first": (content(1, text("a"), THOUGHT, use("a"), use("b")), "first block"),
    "thinking at the end": (content(1, THOUGHT, use("a"), use("b"), THOUGHT), "final block"),
    "thinking with a mark for the cache": (
        content(1, {**THOUGHT, **CACHED}, use("a"), use("b")),
        "unknown field",
    ),
    "a picture that is none": (content(0, image("aGVsbG8=")), "cannot be read"),
    "a picture of another kind": (content(0, image(encoded(gif(1, 1)))), "cannot be read"),
    "a picture that is no base64": (content(0, image("%")), "base64"),
    "a picture of an unknown kind": (content(0, image(PIXEL, "image/tiff")), "cannot be read"),
    "a picture too large": (content(0, image(encoded(png(padding=4_000_000)))), "5 MB"),
    "a picture too wide": (content(0, image(encoded(png_head(8_001, 1)))), "8000"),
    "many pictures": (content(0, *[image()] * 20), "20 images"),
    "half a character": (content(0, text("\ud83d")), "surrogate"),
    "a NUL": (content(0, text("\0")), "NUL"),
    "calls without tools": (lambda body: body.pop("tools"), "without tools"),
    "no tools in the list": (lambda body: body.update(tools=[]), "not empty"),
    "a tool twice": (lambda body: body["tools"].append(body["tools"][0]), "twice"),
    "a tool as others describe it": (lambda body: body["tools"][0].update(type="function"), "unknown field"),
    "a tool without a schema": (lambda body: body["tools"][0].pop("input_schema"), "input_schema"),
    "too many marks for the cache": (content(0, *[{**text("a"), **CACHED}] * 3), "maximum of 4"),
    "a mark nobody knows": (content(0, {**text("a"), "cache_control": {"type": "x"}}), "ephemeral"),
}


def test_a_good_request_is_accepted() -> None:
    assert refusal(json.dumps(GOOD).encode()) is None


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_refused_with_its_reason(case: str) -> None:
    change, reason = BAD[case]
    body = copy.deepcopy(GOOD)
    change(body)
    assert reason in (refusal(json.dumps(body).encode()) or "")


def test_an_id_of_an_earlier_turn_is_refused() -> None:
    body = copy.deepcopy(GOOD)
    body["messages"] += [
        {"role": "assistant", "content": [use("a")]},
        {"role": "user", "content": [result("a")]},
    ]
    assert "unique" in (refusal(json.dumps(body).encode()) or "")


def test_a_request_beyond_its_size_is_refused() -> None:
    assert refusal(b" " * (32 * 1024 * 1024 + 1)) is not None
