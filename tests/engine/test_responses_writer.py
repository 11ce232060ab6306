"""How OpenAI's Responses are spelled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.engine.messages import Image, Message, Reasoning, ToolCall, ToolResult
from tests.engine.wires import HERE, RESPONSES, Body, history, request
from tests.fakes.pictures import PIXEL


def thought(number: int, **fields: Any) -> Body:
    summary = [{"type": "summary_text", "text": f"Hm {number}."}]
    item = {"id": f"rs_{number}", "type": "reasoning", "summary": summary, "encrypted_content": "gAAA"}
    return {**item, **fields}


def thinking(number: int, **fields: Any) -> Reasoning:
    return Reasoning(f"Hm {number}.", data=thought(number, **fields))


def head(**fields: Any) -> Reasoning:
    return Reasoning("", data={"type": "message", **fields})


def read(id: str, *after: str, **data: Any) -> ToolCall:
    return ToolCall(id, "read_file", {"path": "a"}, data={"id": f"fc_{id}", "after": list(after), **data})


def step(*blocks: Any, origin: Any = HERE) -> tuple[Message, ...]:
    """An answer of these blocks, and whatever has to follow it."""
    results = [("tool", ToolResult(one.id, "A")) for one in blocks if isinstance(one, ToolCall)]
    return history(("user", "Read"), ("assistant", *blocks), *results, ("user", "And?"), origin=origin)


def answered(*blocks: Any, **rest: Any) -> list[Body]:
    """The items of that answer."""
    items = RESPONSES.compiled(request(step(*blocks, **rest)))["input"]
    return [item for item in items if item["type"] != "function_call_output" and item.get("role") != "user"]


def named(items: list[Body]) -> list[str]:
    return [item.get("id", item["type"]) for item in items]


def test_the_system_prompt_and_the_tools_stand_beside_the_items() -> None:
    assert RESPONSES.compiled(request(history(("user", "Hello")), max_output_tokens=9)) == {
        "model": "model-a",
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        ],
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Does read_file.",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            }
        ],
        "max_output_tokens": 16,
    }


def test_without_prompt_and_tools_their_fields_are_missing() -> None:
    bare = RESPONSES.compiled(request(history(("user", "Hello")), system=" ", tools=()))
    assert bare.keys() == {"model", "input"}


def test_a_closing_answer_may_call_no_tool_though_the_tools_stand_there() -> None:
    hello = history(("user", "Hello"))
    assert RESPONSES.compiled(request(hello, tool_choice="none"))["tool_choice"] == "none"
    assert "tool_choice" not in RESPONSES.compiled(request(hello))


def test_pictures_stand_between_the_words() -> None:
    look = history(("user", "Look", Image(media_type="image/png", data=PIXEL)))
    (item,) = RESPONSES.compiled(request(look))["input"]
    assert item["content"] == [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
    ]


def test_a_step_of_another_model_is_items_without_names() -> None:
    items = RESPONSES.compiled(request(step(thinking(1), "Let me see.", read("a", "rs_1"), origin=None)))[
        "input"
    ]
    assert items[1:4] == [
        {"type": "message", "role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "a", "name": "read_file", "arguments": '{"path":"a"}'},
        {"type": "function_call_output", "call_id": "a", "output": "A"},
    ]


def test_thinking_goes_back_byte_for_byte_before_the_message_it_led_to() -> None:
    item = thought(1, extra={"b": [1, None], "a": "à"})
    blocks = (Reasoning("Hm.", data=item), head(id="msg_1", phase="final_answer"), "Well.")
    compiler = RESPONSES.compiler()
    sent, message = compiler.compile(request(step(*blocks)))["input"][1:3]
    assert json.dumps(sent) == json.dumps(item)
    assert message == {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Well.", "annotations": []}],
        "phase": "final_answer",
    }


def test_thinking_between_the_calls_of_one_answer_goes_back_to_its_place() -> None:
    blocks = (thinking(1), thinking(2), read("a", "rs_1"), read("b"), read("c", "rs_2"))
    assert named(answered(*blocks)) == ["rs_1", "fc_a", "fc_b", "rs_2", "fc_c"]


def test_thinking_goes_back_once_whatever_claims_it() -> None:
    blocks = (thinking(1), read("a", "rs_1"), read("b", "rs_1", "rs_9"))
    assert named(answered(*blocks)) == ["rs_1", "fc_a", "fc_b"]


@pytest.mark.parametrize(
    "spoilt",
    [
        Reasoning("Hm, but cut off."),
        thinking(2, encrypted_content=None),
        thinking(2, encrypted_content="gA\ud83d"),
        Reasoning("Hm.", data={"type": "thinking", "signature": "sig"}),
        Reasoning("Hm.", data={"field": "reasoning_content"}),
    ],
)
def test_where_a_part_of_the_thinking_cannot_go_back_nothing_is_named(spoilt: Reasoning) -> None:
    only = answered(spoilt, head(id="msg_1", phase="commentary"), "Well.", read("a", "rs_2"))
    assert named(only) == ["message", "function_call"]
    assert only[0]["phase"] == "commentary"


def test_thinking_that_led_to_nothing_is_left_out() -> None:
    items = RESPONSES.compiled(request(step(head(id="msg_1"), "Well.", thinking(1))))["input"]
    assert [item["type"] for item in items] == ["message", "message", "message"]


def test_a_call_in_words_goes_without_its_thinking() -> None:
    assert "gAAA" not in json.dumps(
        RESPONSES.compiled(request(step(thinking(1), read("a", "rs_1")), tools=()))
    )


def test_a_server_can_be_spared_thinking_with_all_that_names_it() -> None:
    whole = request(step(thinking(1), read("a", "rs_1")))
    assert "rs_1" in json.dumps(RESPONSES.compiled(whole))
    spared = json.dumps(RESPONSES.compiled(whole, frozenset({"thinking"})))
    assert "rs_1" not in spared
    assert "fc_a" not in spared
