"""How Anthropic's Messages are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.anthropic_writer import DEFAULT_OUTPUT
from app.engine.messages import Block, Image, Message, Reasoning, ToolCall, ToolResult
from tests.engine.wires import ANTHROPIC, HERE, Body, history, request
from tests.fakes.pictures import PIXEL, encoded, png


def compiled(messages: tuple[Message, ...], **fields: Any) -> list[Body]:
    found: list[Body] = ANTHROPIC.compiled(request(messages, **fields))["messages"]
    return found


def text(words: str) -> Body:
    return {"type": "text", "text": words}


def test_the_system_prompt_and_the_tools_stand_beside_the_messages() -> None:
    assert ANTHROPIC.compiled(request(history(("user", "Hello")))) == {
        "model": "model-a",
        "max_tokens": DEFAULT_OUTPUT,
        "system": [text("Be brief.")],
        "messages": [{"role": "user", "content": [text("Hello")]}],
        "tools": [
            {
                "name": "read_file",
                "description": "Does read_file.",
                "input_schema": {"type": "object", "properties": {}},
            }
        ],
    }


def test_without_prompt_and_tools_their_fields_are_missing() -> None:
    body = ANTHROPIC.compiled(request(history(("user", "Hello")), system=" ", tools=(), max_output_tokens=9))
    assert body.keys() == {"model", "max_tokens", "messages"}
    assert body["max_tokens"] == 9


def test_a_closing_answer_may_call_no_tool_though_the_tools_stand_there() -> None:
    hello = history(("user", "Hello"))
    closing = ANTHROPIC.compiled(request(hello, tool_choice="none"))
    assert (closing["tools"], closing["tool_choice"]) == (
        ANTHROPIC.compiled(request(hello))["tools"],
        {"type": "none"},
    )
    assert "tool_choice" not in ANTHROPIC.compiled(request(hello))


def test_the_results_of_a_step_begin_the_next_message_and_all_else_stands_behind_them() -> None:
    step = history(
        ("user", "Look"),
        ("assistant", "Let me see.", ToolCall("b", "read_file", {"path": "x"}), ToolCall("a", "read_file")),
        ("tool", ToolResult("b", "B")),
        ("tool", ToolResult("a", " ", "error")),
        ("user", Image(media_type="image/jpeg", data=PIXEL)),
        ("user", "Hurry up"),
    )
    assert compiled(step)[1:] == [
        {
            "role": "assistant",
            "content": [
                text("Let me see."),
                {"type": "tool_use", "id": "b", "name": "read_file", "input": {"path": "x"}},
                {"type": "tool_use", "id": "a", "name": "read_file", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "B"},
                {"type": "tool_result", "tool_use_id": "a", "content": "(no output)", "is_error": True},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                text("Hurry up"),
            ],
        },
    ]


def test_a_picture_beyond_the_limit_of_one_is_mentioned_only() -> None:
    large = Image(media_type="image/png", data=encoded(png(padding=4 * 1024 * 1024)))
    assert compiled(history(("user", "Look", large)))[0]["content"][1] == text(
        "[A picture stood here that is too large to be shown.]"
    )


SIGNED = Reasoning("I need  a. ", data={"type": "thinking", "signature": "EqQB"})
SEALED = Reasoning("", data={"type": "redacted_thinking", "data": "Eo4C"})
WHOLE = {"type": "thinking", "thinking": "I need  a. ", "signature": "EqQB"}
HIDDEN = {"type": "redacted_thinking", "data": "Eo4C"}


def answered(*blocks: Block | str) -> list[Body]:
    """The blocks that go back to the very model that wrote them."""
    said = history(("user", "Read"), ("assistant", *blocks), ("user", "So?"), origin=HERE)
    content: list[Body] = compiled(said)[1]["content"]
    return content


def test_thinking_goes_back_as_it_came_and_where_it_stood() -> None:
    assert answered(SIGNED, SEALED, "So.") == [WHOLE, HIDDEN, text("So.")]
    assert answered(SIGNED, "First.", SEALED, "Then.") == [WHOLE, text("First."), HIDDEN, text("Then.")]


def test_thinking_whose_text_was_not_shown_keeps_its_signature() -> None:
    unseen = Reasoning("", "EqQB")
    assert answered(unseen, "So.")[0] == {"type": "thinking", "thinking": "", "signature": "EqQB"}


@pytest.mark.parametrize(
    "block",
    [
        Reasoning("Hm."),
        Reasoning("Hm.", ""),
        Reasoning("Hm\ud83d", "EqQB"),
        Reasoning("Hm.", data={"type": "thinking", "signature": 1}),
        Reasoning("", data={"type": "redacted_thinking", "data": ""}),
        Reasoning("Hm.", "EqQB", {"type": "tool_use"}),
        Reasoning("Hm.", data={"field": "reasoning_content"}),
    ],
)
def test_thinking_that_would_be_refused_is_left_out(block: Reasoning) -> None:
    assert answered(block, "So.") == [text("So.")]


def test_an_answer_neither_ends_in_thinking_nor_begins_before_it() -> None:
    assert answered(SIGNED, "So.", SEALED) == [WHOLE, text("So.")]
    assert answered("So.", SIGNED, "Well.") == [text("So."), text("Well.")]


def test_thinking_of_an_answer_that_goes_on_from_another_is_left_out() -> None:
    said = history(
        ("user", "Read"),
        ("assistant", SIGNED, "So."),
        ("assistant", SIGNED, "Well."),
        ("user", "?"),
        origin=HERE,
    )
    assert compiled(said)[1]["content"] == [WHOLE, text("So."), text("Well.")]
