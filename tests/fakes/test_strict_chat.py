"""What the strict reading refuses; a checker that accepts everything would prove nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.pictures import PIXEL
from tests.fakes.strict_chat import refusal

Body = dict[str, Any]


def call(id: str, name: str = "read_file", arguments: str = "{}") -> Body:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


GOOD: Body = {
    "model": "m",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read two files."},
        {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}],
        },
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "",
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                },
            },
        }
    ],
}


def changed(change: Callable[[Body], Any]) -> bytes:
    body = copy.deepcopy(GOOD)
    change(body)
    return json.dumps(body).encode()


def messages(**replaced: Any) -> Callable[[Body], Any]:
    """Replaces fields of messages: ``m2={"content": ""}`` changes the third one, None takes it out."""

    def change(body: Body) -> None:
        for key, fields in sorted(replaced.items(), reverse=True):
            place = int(key[1:])
            if fields is None:
                del body["messages"][place]
            else:
                body["messages"][place] = {**body["messages"][place], **fields}

    return change


def schema(**fields: Any) -> Callable[[Body], Any]:
    return lambda body: body["tools"][0]["function"]["parameters"].update(fields)


BAD: dict[str, tuple[Callable[[Body], Any], str]] = {
    "unknown field": (lambda body: body.update(foo=1), "unknown field"),
    "no model": (lambda body: body.pop("model"), "model"),
    "usage without a stream": (lambda body: body.update(stream=False), "stream_options"),
    "cache key too long": (lambda body: body.update(prompt_cache_key="x" * 65), "prompt_cache_key"),
    "no room for an answer": (lambda body: body.update(max_tokens=0), "max_tokens"),
    "no messages": (lambda body: body.update(messages=[]), "messages"),
    "unknown role": (messages(m1={"role": "human"}), "role"),
    "unknown field of a message": (messages(m1={"timestamp": 1}), "unknown field"),
    "empty text": (messages(m1={"content": ""}), "not empty"),
    "blank text": (messages(m1={"content": " \n"}), "not empty"),
    "blank part": (messages(m5={"content": [{"type": "text", "text": " "}]}), "empty text part"),
    "no parts": (messages(m5={"content": []}), "no parts"),
    "unknown part": (messages(m5={"content": [{"type": "video"}]}), "unknown type"),
    "picture that is none": (
        messages(m5={"content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}),
        "image",
    ),
    "parts of an assistant": (
        messages(m0={"content": [{"type": "text", "text": "a"}]}),
        "only in a user message",
    ),
    "null without calls": (messages(m1={"content": None}), "null only beside"),
    "empty result": (messages(m3={"content": ""}), "not empty"),
    "system prompt later": (messages(m1={"role": "system"}), "first one"),
    "user twice": (messages(m2=None, m3=None, m4=None), "two user messages"),
    "assistant first": (messages(m1=None), "first message"),
    "assistant last": (
        messages(m2=None, m3=None, m4=None, m5={"role": "assistant", "content": "a"}),
        "last message",
    ),
    "results in the wrong order": (
        messages(m3={"tool_call_id": "b"}, m4={"tool_call_id": "a"}),
        "the result of 'a'",
    ),
    "a result missing": (messages(m4=None), "calls without results"),
    "a result missing at the end": (messages(m4=None, m5=None), "calls without results at the end"),
    "a result twice": (messages(m4={"tool_call_id": "a"}), "the result of 'b'"),
    "a result without its call": (messages(m2=None, m4=None), "without a call"),
    "an id twice": (messages(m2={"tool_calls": [call("a"), call("a")]}), "used before"),
    "an id too long": (messages(m2={"tool_calls": [call("a" * 41)]}), "id"),
    "an empty id": (messages(m2={"tool_calls": [call("")]}), "id"),
    "no calls in the list": (messages(m2={"tool_calls": []}), "list that is not empty"),
    "a bad name": (messages(m2={"tool_calls": [call("a", "two words"), call("b")]}), "name"),
    "arguments that are no JSON": (
        messages(m2={"tool_calls": [call("a", arguments="{"), call("b")]}),
        "not JSON",
    ),
    "arguments that are no object": (
        messages(m2={"tool_calls": [call("a", arguments="[]"), call("b")]}),
        "object",
    ),
    "arguments with a key twice": (
        messages(m2={"tool_calls": [call("a", arguments='{"x":1,"x":2}'), call("b")]}),
        "twice",
    ),
    "arguments as an object": (
        lambda body: body["messages"][2]["tool_calls"][0]["function"].update(arguments={}),
        "arguments as a string",
    ),
    "half a character": (messages(m1={"content": "a\ud83d"}), "surrogate"),
    "half a character in arguments": (
        messages(m2={"tool_calls": [call("a", arguments='{"x":"\\ud83d"}'), call("b")]}),
        "surrogate",
    ),
    "calls without tools": (lambda body: body.pop("tools"), "without tools"),
    "no tools in the list": (lambda body: body.update(tools=[]), "list that is not empty"),
    "a tool twice": (lambda body: body["tools"].append(body["tools"][0]), "twice"),
    "a tool without a schema": (lambda body: body["tools"][0]["function"].pop("parameters"), "without type"),
    "a schema that is no object": (schema(type="string"), "type object"),
    "an unknown type": (schema(properties={"path": {"type": "file"}}), "unknown type"),
    "something required that is not there": (schema(required=["other"]), "required"),
    "an enum of nothing": (schema(properties={"path": {"enum": []}}), "enum"),
    "a list of anything": (schema(properties={"path": {"type": "array"}}), "items"),
}


def test_a_good_request_is_accepted() -> None:
    assert refusal(json.dumps(GOOD).encode()) is None


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request_is_refused_with_its_reason(case: str) -> None:
    change, reason = BAD[case]
    assert reason in (refusal(changed(change)) or "")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"model":NaN}', b'{"a":1,"a":2}', b'{"model":"\xff"}'])
def test_what_is_no_request_at_all_is_refused(raw: bytes) -> None:
    assert refusal(raw) is not None
