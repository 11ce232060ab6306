"""How chat completions are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.chat_writer import ChatWriter
from app.engine.compiler import Compiler
from app.engine.messages import Image, Message, Origin, Reasoning, ToolCall, ToolResult
from tests.engine.wires import CHAT, HERE, Body, history, request
from tests.fakes.pictures import PIXEL


def compiled(messages: tuple[Message, ...], **fields: Any) -> list[Body]:
    found: list[Body] = CHAT.compiled(request(messages, **fields))["messages"]
    return found


def test_a_plain_turn_is_system_prompt_and_text() -> None:
    assert compiled(history(("user", "Hello"))) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]


def test_a_blank_system_prompt_is_left_out() -> None:
    assert compiled(history(("user", "Hello")), system=" \n") == [{"role": "user", "content": "Hello"}]


def test_an_answer_is_capped_only_where_somebody_says_so() -> None:
    hello = history(("user", "Hello"))
    assert "max_tokens" not in CHAT.compiled(request(hello))
    assert CHAT.compiled(request(hello, max_output_tokens=7))["max_tokens"] == 7


def test_a_closing_answer_may_call_no_tool_though_the_tools_stand_there() -> None:
    hello = history(("user", "Hello"))
    closing = CHAT.compiled(request(hello, tool_choice="none"))
    assert (closing["tools"], closing["tool_choice"]) == (CHAT.compiled(request(hello))["tools"], "none")
    assert "tool_choice" not in CHAT.compiled(request(hello))
    assert "tool_choice" not in CHAT.compiled(request(hello, tool_choice="none", tools=()))


def test_calls_stand_before_their_results_in_declared_order() -> None:
    calls = ToolCall("b", "read_file", {"path": "à.txt"}), ToolCall("a", "read_file", {})
    step = history(
        ("user", "Read"),
        ("assistant", "Let me see.", *calls),
        ("tool", ToolResult("b", "B")),
        ("tool", ToolResult("a", "A")),
    )
    _, _, asked, first, second = compiled(step)
    assert asked["content"] == "Let me see."
    assert [(call["id"], call["function"]["arguments"]) for call in asked["tool_calls"]] == [
        ("b", '{"path":"à.txt"}'),
        ("a", "{}"),
    ]
    assert [(one["tool_call_id"], one["content"]) for one in (first, second)] == [("b", "B"), ("a", "A")]


def test_calls_without_text_have_no_content_and_an_empty_result_says_so() -> None:
    step = history(
        ("user", "Read"), ("assistant", " ", ToolCall("a", "read_file")), ("tool", ToolResult("a", " \n"))
    )
    *_, asked, result = compiled(step)
    assert asked["content"] is None
    assert result["content"] == "(no output)"


def test_a_call_that_could_not_be_read_goes_out_without_arguments_and_keeps_its_result() -> None:
    broken = ToolCall("a", "read file!", {}, "not_json", "path: x")
    step = history(
        ("user", "Read"), ("assistant", broken), ("tool", ToolResult("a", "E_ARGUMENTS: …", "error"))
    )
    *_, asked, result = compiled(step)
    assert asked["tool_calls"][0]["function"] == {"name": "read_file_", "arguments": "{}"}
    assert result == {"role": "tool", "tool_call_id": "a", "content": "E_ARGUMENTS: …"}


def test_pictures_of_a_step_and_what_the_user_said_meanwhile_are_one_message() -> None:
    step = history(
        ("user", "Look"),
        ("assistant", ToolCall("a", "read_file")),
        ("tool", ToolResult("a", "a picture")),
        ("user", Image(media_type="image/png", data=PIXEL)),
        ("user", "Hurry up"),
    )
    assert compiled(step)[-1] == {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
            {"type": "text", "text": "Hurry up"},
        ],
    }


@pytest.mark.parametrize(
    "image",
    [
        Image(ref="attachments/a.png"),
        Image(media_type="image/tiff", data="SUkqAA=="),
        Image(media_type="image/png", data="no base64!"),
        Image(media_type="image/png", data=""),
    ],
)
def test_where_no_picture_is_left_the_words_are_a_string_that_every_server_takes(image: Image) -> None:
    assert compiled(history(("user", "Look", image)))[-1] == {
        "role": "user",
        "content": "Look\n\n[A picture stood here that cannot be shown.]",
    }


def test_thinking_goes_into_the_field_it_came_in() -> None:
    block = Reasoning("Hm, a file.", data={"field": "reasoning_content"})
    thought = history(("user", "Read"), ("assistant", block, "Well."), ("user", "So?"), origin=HERE)
    assert compiled(thought)[2] == {
        "role": "assistant",
        "content": "Well.",
        "reasoning_content": "Hm, a file.",
    }


def test_fields_that_thinking_brings_along_are_only_those_this_wire_knows() -> None:
    block = Reasoning("", data={"reasoning_details": [{"id": 1}], "role": "system", "tools": []})
    thought = history(("user", "A"), ("assistant", block, "B"), ("user", "C"), origin=HERE)
    assert compiled(thought)[2] == {"role": "assistant", "content": "B", "reasoning_details": [{"id": 1}]}


GOOGLE = {"extra_content": {"google": {"thought_signature": "c2ln"}}}


def signed_step(origin: Origin | None) -> tuple[Message, ...]:
    calls = ToolCall("a", "read_file", data={**GOOGLE, "type": "x"}), ToolCall("b", "read_file")
    results = (("tool", ToolResult(id, "A")) for id in "ab")
    return history(("user", "Read"), ("assistant", *calls), *results, origin=origin)


def added(body: Body) -> list[Body]:
    """What stands beside the usual fields of each call."""
    calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
    return [{name: call[name] for name in call.keys() - {"id", "type", "function"}} for call in calls]


def test_what_a_server_added_to_its_calls_goes_back_to_the_very_same_model() -> None:
    assert added(CHAT.compiled(request(signed_step(HERE)))) == [GOOGLE, {}]
    assert added(CHAT.compiled(request(signed_step(None)))) == [{}, {}]
    assert added(CHAT.compiled(request(signed_step(HERE)), frozenset({"thinking"}))) == [{}, {}]


def test_where_each_step_needs_a_signature_a_foreign_one_gets_what_stands_for_it() -> None:
    stand_in = {"extra_content": {"google": {"thought_signature": "skip"}}}
    writer = ChatWriter((), stand_in)
    own, foreign = (Compiler(writer, HERE).compile(request(signed_step(origin))) for origin in (HERE, None))
    assert added(own) == [GOOGLE, {}]
    assert added(foreign) == [stand_in, {}]
