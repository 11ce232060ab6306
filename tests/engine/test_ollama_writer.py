"""How Ollama's own chat is spelled."""

from __future__ import annotations

from typing import Any

from app.engine.messages import Image, Message, Reasoning, ToolCall, ToolResult
from tests.engine.wires import HERE, OLLAMA, Body, history, request
from tests.fakes.pictures import PIXEL, encoded, gif


def compiled(messages: tuple[Message, ...], **fields: Any) -> list[Body]:
    found: list[Body] = OLLAMA.compiled(request(messages, **fields))["messages"]
    return found


def test_a_plain_turn_is_system_prompt_and_text() -> None:
    assert compiled(history(("user", "Hello"))) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]


def test_an_answer_is_capped_only_where_somebody_says_so() -> None:
    hello = history(("user", "Hello"))
    assert "options" not in OLLAMA.compiled(request(hello))
    assert OLLAMA.compiled(request(hello, max_output_tokens=7))["options"] == {"num_predict": 7}


def test_a_closing_answer_has_the_tools_in_their_place_as_every_other() -> None:
    hello = history(("user", "Hello"))
    assert OLLAMA.compiled(request(hello, tool_choice="none")) == OLLAMA.compiled(request(hello))


def test_arguments_are_objects_and_a_result_names_its_tool() -> None:
    step = history(
        ("user", "Read"),
        ("assistant", ToolCall("b", "read_file", {"path": "à.txt", "n": [1, None]})),
        ("tool", ToolResult("b", "B")),
    )
    call = {"id": "b", "function": {"name": "read_file", "arguments": {"path": "à.txt", "n": [1, None]}}}
    assert compiled(step)[2:] == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "B", "tool_name": "read_file", "tool_call_id": "b"},
    ]


def test_pictures_stand_beside_the_words() -> None:
    picture = Image(media_type="image/png", data=PIXEL)
    said = history(("user", "Look", picture), ("user", picture, "and here"))
    assert compiled(said)[1:] == [{"role": "user", "content": "Look\n\nand here", "images": [PIXEL, PIXEL]}]
    assert compiled(history(("user", picture)))[1:] == [{"role": "user", "content": "", "images": [PIXEL]}]


def test_a_picture_of_a_kind_it_does_not_read_is_mentioned_only() -> None:
    moving = Image(media_type="image/gif", data=encoded(gif(3, 3)))
    assert compiled(history(("user", moving)))[1:] == [
        {"role": "user", "content": "[A picture stood here that cannot be shown.]"}
    ]


def test_thinking_of_neighbours_is_joined_like_their_words() -> None:
    said = history(
        ("user", "Read"),
        ("assistant", Reasoning("Hm."), "So."),
        ("assistant", Reasoning("Ah."), "Well."),
        ("user", "?"),
        origin=HERE,
    )
    assert compiled(said)[2] == {
        "role": "assistant",
        "content": "So.\n\nWell.",
        "thinking": "Hm.\n\nAh.",
    }
