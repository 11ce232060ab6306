"""What the strict reading of Responses refuses; a checker that accepts everything would prove nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.http_wire import Request
from tests.fakes.openai_responses import refusal as server_refusal
from tests.fakes.openai_responses import seal
from tests.fakes.strict_responses import refusal

Body = dict[str, Any]


def thought(id: str, model: str = "m") -> Body:
    return {"type": "reasoning", "id": id, "summary": [], "encrypted_content": seal(model, id, "")}


def call(id: str, item: str | None = None, arguments: str = "{}") -> Body:
    base = {"type": "function_call", "call_id": id, "name": "read_file", "arguments": arguments}
    return {**base, "id": item} if item else base


def output(id: str) -> Body:
    return {"type": "function_call_output", "call_id": id, "output": "A"}


def said(text: str) -> Body:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


HELLO = said("Hello")
STEP = [HELLO, thought("rs_1"), call("a", "fc_2_after_rs_1"), call("b", "fc_3"), output("a"), output("b")]
TOOL = {
    "type": "function",
    "name": "read_file",
    "description": "",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}
GOOD: Body = {
    "model": "m",
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "low", "summary": "auto"},
    "instructions": "Be brief.",
    "input": STEP,
    "tools": [TOOL],
}


def encoded(**replaced: Any) -> bytes:
    return json.dumps({**copy.deepcopy(GOOD), **replaced}).encode()


def test_a_good_request_is_taken() -> None:
    assert refusal(encoded()) is None


INPUTS: dict[str, tuple[list[Body], str]] = {
    "nothing": ([], "not empty"),
    "an answer first": ([{"type": "message", "role": "assistant", "content": "x"}, HELLO], "input[0]"),
    "an answer last": ([HELLO, {"type": "message", "role": "assistant", "content": "x"}], "the last item"),
    "an output without a call": ([HELLO, output("a")], "No tool call found"),
    "a call without an output": ([HELLO, call("a"), said("So?")], "No tool output found"),
    "outputs in another order": ([HELLO, call("a"), call("b"), output("b"), output("a")], "order"),
    "a call id used twice": ([HELLO, call("a"), output("a"), call("a"), output("a")], "duplicate call_id"),
    "a call id too long": ([HELLO, call("x" * 65), output("x" * 65)], "not valid"),
    "a call's item of another kind": ([HELLO, call("a", "call_1"), output("a")], "begins with 'fc'"),
    "arguments that are no JSON": ([HELLO, call("a", arguments="{"), output("a")], "not JSON"),
    "thinking at the end": ([HELLO, thought("rs_1"), said("So?")], "required following item"),
    "thinking before a nameless call": (
        [HELLO, thought("rs_1"), call("a"), output("a")],
        "required following item",
    ),
    "thinking twice": ([*STEP, thought("rs_1"), call("c", "fc_4"), output("c")], "Duplicate item"),
    "thinking that is not sealed": (
        [HELLO, {**thought("rs_1"), "encrypted_content": None}, call("a", "fc_1"), output("a")],
        "not found",
    ),
    "an unknown field": ([{**HELLO, "name": "x"}], "unknown field"),
    "blank text": ([said(" ")], "not empty"),
    "a part of another wire": ([{**HELLO, "content": [{"type": "text", "text": "x"}]}], "a user cannot say"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_is_refused(name: str) -> None:
    items, words = INPUTS[name]
    assert words in (refusal(encoded(input=items)) or "")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": ""}, "model"),
        ({"messages": []}, "unknown field"),
        ({"max_output_tokens": 9}, "max_output_tokens"),
        ({"prompt_cache_key": "x" * 65}, "prompt_cache_key"),
        ({"reasoning": {"effort": "much"}}, "reasoning.effort"),
        ({"tools": [{**TOOL, "strict": True}]}, "additionalProperties"),
        ({"tools": [TOOL, TOOL]}, "twice"),
    ],
)
def test_a_body_is_refused(fields: Body, words: str) -> None:
    assert words in (refusal(encoded(**fields)) or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda step: step, ""),
        (lambda step: [HELLO, thought("rs_1", "another"), *step[2:]], "could not be verified"),
        (lambda step: [HELLO, *step[2:]], "required 'reasoning' item: 'rs_1'"),
    ],
)
def test_the_server_knows_what_it_sealed(change: Callable[[list[Body]], list[Body]], words: str) -> None:
    request = Request("POST", "/v1/responses", {}, {}, encoded(input=change(STEP)), 0)
    refused = server_refusal(request)
    assert (refused is None) if not words else words in (refused or "")
