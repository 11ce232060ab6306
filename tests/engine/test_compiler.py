"""Whatever was stored, the request made of it is one that the strictest server takes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.compiler import BEGINNING, GO_ON, ChatCompiler, compile_openai_chat
from app.engine.errors import ProviderError
from app.engine.ladder import ORDER, Left, Part
from app.engine.messages import (
    Block,
    Image,
    Marker,
    Message,
    Origin,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from app.engine.pairing import repair
from app.engine.provider import ModelRequest, ToolDefinition
from tests.fakes import strict

NOON = "2026-11-30T12:00:00.000Z"
HERE = Origin("local", "model-a", "http://127.0.0.1/v1")
PIXEL = base64.b64encode(b"\x89PNG").decode()


def tools(*names: str) -> tuple[ToolDefinition, ...]:
    return tuple(
        ToolDefinition(name, f"Does {name}.", {"type": "object", "properties": {}}) for name in names
    )


def history(*messages: tuple[Any, ...], origin: Origin | None = None) -> tuple[Message, ...]:
    """Each message as role and blocks; a plain string is text."""
    return tuple(
        Message(role, tuple(Text(b) if isinstance(b, str) else b for b in blocks), f"m{number}", NOON, origin)
        for number, (role, *blocks) in enumerate(messages)
    )


def request(messages: tuple[Message, ...], **fields: Any) -> ModelRequest:
    return ModelRequest(
        **{
            "model": "model-a",
            "system": "Be brief.",
            "tools": tools("read_file"),
            **fields,
            "messages": messages,
        }
    )


def compiled(
    messages: tuple[Message, ...], origin: Origin | None = None, **fields: Any
) -> list[dict[str, Any]]:
    """The messages of the body, which a strict server has looked at."""
    body = compile_openai_chat(request(messages, **fields), origin=origin)
    assert strict.refusal(json.dumps(body).encode()) is None
    found: list[dict[str, Any]] = body["messages"]
    return found


def test_a_plain_turn_is_system_prompt_and_text() -> None:
    assert compiled(history(("user", "Hello"))) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]


def test_a_blank_system_prompt_is_left_out() -> None:
    assert compiled(history(("user", "Hello")), system=" \n") == [{"role": "user", "content": "Hello"}]


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
        Image(media_type="image/tiff", data=PIXEL),
        Image(media_type="image/png", data="no base64!"),
        Image(media_type="image/png", data=""),
    ],
)
def test_a_picture_that_no_server_could_read_is_mentioned_in_words(image: Image) -> None:
    *_, said = compiled(history(("user", "Look", image)))
    assert [part["type"] for part in said["content"]] == ["text", "text"]


def test_a_stopped_turn_ends_in_a_mark_that_the_model_can_read() -> None:
    stopped = history(
        ("user", "Count"),
        ("assistant", "One, two"),
        ("assistant", Marker("stopped_by_user")),
        ("user", "Why?"),
    )
    assert compiled(stopped)[2:] == [
        {"role": "assistant", "content": "One, two\n\n[The user stopped this turn here.]"},
        {"role": "user", "content": "Why?"},
    ]


def test_a_history_that_ends_in_an_answer_asks_the_model_to_go_on() -> None:
    cut = history(("user", "Count"), ("assistant", "One, two"))
    assert compiled(cut)[-1] == {"role": "user", "content": GO_ON}


def test_a_history_that_begins_with_an_answer_begins_with_a_user_all_the_same() -> None:
    assert compiled(history(("assistant", "Hello"), ("user", "Hi")))[1] == {
        "role": "user",
        "content": BEGINNING,
    }


def test_a_call_that_could_not_be_read_goes_out_without_arguments_and_keeps_its_result() -> None:
    broken = ToolCall("a", "read file!", {}, "not_json", "path: x")
    step = history(
        ("user", "Read"), ("assistant", broken), ("tool", ToolResult("a", "E_ARGUMENTS: …", "error"))
    )
    *_, asked, result = compiled(step)
    assert asked["tool_calls"][0]["function"] == {"name": "read_file_", "arguments": "{}"}
    assert result["content"].startswith("E_ARGUMENTS")


def test_calls_of_a_tool_that_is_gone_are_told_in_words() -> None:
    step = history(
        ("user", "Draw"),
        ("assistant", "Sure.", ToolCall("a", "draw", {"what": "a cat"})),
        ("tool", ToolResult("a", "done")),
        ("assistant", "There."),
        ("user", "Thanks"),
    )
    assert compiled(step)[2:5] == [
        {"role": "assistant", "content": 'Sure.\n\n[Called draw with {"what":"a cat"}]'},
        {"role": "user", "content": "[Result of draw]\ndone"},
        {"role": "assistant", "content": "There."},
    ]


def test_without_tools_no_call_is_left_in_the_request() -> None:
    step = history(
        ("user", "Read"), ("assistant", ToolCall("a", "read_file")), ("tool", ToolResult("a", "text"))
    )
    assert not any("tool_calls" in entry or entry["role"] == "tool" for entry in compiled(step, tools=()))


def test_a_mistaken_name_in_the_open_step_is_shown_to_the_model_as_it_called_it() -> None:
    step = history(
        ("user", "Read"),
        ("assistant", ToolCall("a", "Read_File")),
        ("tool", ToolResult("a", "E_UNKNOWN", "error")),
    )
    *_, asked, result = compiled(step)
    assert asked["tool_calls"][0]["function"]["name"] == "Read_File"
    assert result == {"role": "tool", "tool_call_id": "a", "content": "E_UNKNOWN"}


def two_steps(first: str, second: str, origin: Origin | None = None) -> tuple[Message, ...]:
    return history(
        ("user", "Read"),
        ("assistant", ToolCall(first, "read_file")),
        ("tool", ToolResult(first, "1")),
        ("assistant", ToolCall(second, "read_file")),
        ("tool", ToolResult(second, "2")),
        origin=origin,
    )


def ids_of(entries: list[dict[str, Any]]) -> list[str]:
    return [call["id"] for entry in entries for call in entry.get("tool_calls", ())]


def test_an_id_that_was_used_before_is_replaced_in_call_and_result_alike() -> None:
    first, second = ids_of(compiled(two_steps("call_0", "call_0")))
    assert first == "call_0"
    assert second != first


def test_ids_of_other_servers_are_made_short_and_plain_and_stay_the_same_each_time() -> None:
    foreign = two_steps("functions.read_file:0", "x" * 300, Origin("other", "model-b"))
    found = ids_of(compiled(foreign, HERE))
    assert all(id.startswith("call_") and len(id) <= 40 for id in found)
    assert found == ids_of(compiled(foreign, HERE))


def test_a_server_gets_its_own_ids_back_as_they_were() -> None:
    assert ids_of(compiled(two_steps("functions.read_file:0", "b", HERE), HERE)) == [
        "functions.read_file:0",
        "b",
    ]


THINKING = Reasoning("Hm, a file.", data={"field": "reasoning_content"})


def thought(origin: Origin | None) -> tuple[Message, ...]:
    return history(("user", "Read"), ("assistant", THINKING, "Well."), ("user", "So?"), origin=origin)


def test_thinking_goes_back_to_the_model_that_thought_it() -> None:
    assert compiled(thought(HERE), HERE)[2] == {
        "role": "assistant",
        "content": "Well.",
        "reasoning_content": "Hm, a file.",
    }


@pytest.mark.parametrize(
    "origin",
    [
        None,
        Origin("local", "model-b", HERE.endpoint),
        Origin("other", "model-a", HERE.endpoint),
        Origin("local", "model-a", "http://elsewhere/v1"),
    ],
)
def test_thinking_of_anybody_else_is_left_out(origin: Origin | None) -> None:
    assert compiled(thought(origin), HERE)[2] == {"role": "assistant", "content": "Well."}


def test_fields_that_thinking_brings_along_are_only_those_this_wire_knows() -> None:
    block = Reasoning("", data={"reasoning_details": [{"id": 1}], "role": "system", "tools": []})
    entries = compiled(history(("user", "A"), ("assistant", block, "B"), ("user", "C"), origin=HERE), HERE)
    assert entries[2] == {"role": "assistant", "content": "B", "reasoning_details": [{"id": 1}]}


def test_halves_of_characters_and_nul_never_reach_the_wire() -> None:
    step = history(
        ("user", "a\ud83d\0"),
        ("assistant", ToolCall("a", "read_file", {"path\udc00": "\ud83d"})),
        ("tool", ToolResult("a", "\udc00")),
    )
    text = json.dumps(compiled(step, system="\ud83d\ude80 \0"), ensure_ascii=False)
    assert "\0" not in text
    assert "🚀" in text
    text.encode()


@pytest.mark.parametrize(
    ("fields", "about"),
    [
        ({"model": ""}, "Choose one"),
        ({"messages": ()}, "Write a message"),
        ({"tools": tools("two words")}, "two words"),
        ({"tools": tools("a", "a")}, "'a'"),
        ({"tools": (ToolDefinition("a", "", {"type": "string"}),)}, "'a'"),
    ],
)
def test_what_no_repair_can_make_valid_is_said_before_anything_is_sent(
    fields: dict[str, Any], about: str
) -> None:
    with pytest.raises(ProviderError, match=about) as caught:
        compile_openai_chat(
            ModelRequest(**{"model": "m", "system": "", "messages": history(("user", "a")), **fields})
        )
    assert caught.value.kind == "local"


texts = st.sampled_from(["", " ", "word", "\ud83d", "\udc00x", "\0", "à 🚀", "[DONE]", "\n\n"])
ids = st.sampled_from(["", "a", "b", "call_0", "x" * 70, "functions.f:0", "à", "a b"])
names = st.sampled_from(["read_file", "gone", "", "two words", "x" * 90, "à"])
values = st.recursive(
    st.none() | texts | st.integers() | st.floats(),
    lambda v: st.lists(v, max_size=2) | st.dictionaries(texts, v, max_size=2),
    max_leaves=4,
)
calls = st.builds(ToolCall, ids, names, st.dictionaries(texts, values, max_size=3))
results = st.builds(ToolResult, ids, texts, st.sampled_from(["ok", "error", "interrupted"]))
images = st.builds(
    Image,
    st.none() | texts,
    st.sampled_from([None, "image/png", "image/x"]),
    st.sampled_from([None, "", "%", PIXEL]),
)
thinking = st.builds(
    Reasoning, texts, st.none(), st.sampled_from([None, {"field": "reasoning_content"}, {"role": "system"}])
)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, texts),
    calls,
    calls,
    results,
    results,
    images,
    thinking,
    st.builds(Marker, st.sampled_from(["stopped_by_user", "interrupted"])),
)
origins = st.sampled_from([None, HERE, Origin("other", "model-a")])
shapes = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.lists(blocks, max_size=4), origins),
    min_size=1,
    max_size=12,
)
histories = shapes.map(
    lambda rows: tuple(
        Message(role, tuple(found), f"m{n}", NOON, origin) for n, (role, found, origin) in enumerate(rows)
    )
)
offered = st.sampled_from([(), tools("read_file"), tools("read_file", "other")])


@given(histories, offered, texts)
def test_any_history_compiles_to_a_request_that_a_strict_server_takes(
    messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...], system: str
) -> None:
    body = compile_openai_chat(
        ModelRequest("m", system, repair(messages), offer)
        if repair(messages)
        else request(history(("user", "x")))
    )
    assert strict.refusal(json.dumps(body).encode()) is None


@given(histories, offered)
def test_any_history_compiles_unrepaired_as_well(
    messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...]
) -> None:
    body = compile_openai_chat(ModelRequest("m", "s", messages, offer))
    assert strict.refusal(json.dumps(body).encode()) is None


@given(histories, offered, st.integers(0, 12), st.booleans())
def test_a_compiler_that_knows_the_beginning_writes_the_same(
    messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...], known: int, same_tools: bool
) -> None:
    paired = repair(messages) or history(("user", "x"))
    compiler = ChatCompiler(HERE)
    for end in (known, known + 1):
        if paired[:end]:
            compiler.compile(ModelRequest("m", "s", paired[:end], offer if same_tools else ()))
    whole = ModelRequest("m", "s", paired, offer)
    assert compiler.compile(whole) == ChatCompiler(HERE).compile(whole)


def test_the_beginning_of_a_grown_history_is_byte_for_byte_the_same_so_that_caches_hit() -> None:
    steps = two_steps("a", "b")
    compiler = ChatCompiler(HERE)
    before = compiler.compile(request(steps[:3]))["messages"]
    after = compiler.compile(request(steps))["messages"]
    assert after[: len(before)] == before
    assert all(old is new for old, new in zip(before[1:], after[1:], strict=False))


TOLD = history(
    ("user", "Look", Image(media_type="image/png", data=PIXEL)),
    ("assistant", THINKING, ToolCall("a", "read_file")),
    ("tool", ToolResult("a", "A")),
    ("assistant", THINKING, ToolCall("b", "read_file")),
    ("tool", ToolResult("b", "B")),
    origin=HERE,
)


def reduced(*parts: Part) -> dict[str, Any]:
    """The body that leaves these parts out, which a strict server has looked at."""
    body = ChatCompiler(HERE, ("reasoning_content",)).compile(request(TOLD), frozenset(parts))
    assert strict.refusal(json.dumps(body).encode()) is None
    return body


def test_a_server_can_be_spared_thinking() -> None:
    assert "reasoning_content" in json.dumps(reduced())
    assert "reasoning_content" not in json.dumps(reduced("thinking"))


def test_a_server_can_be_spared_the_calls_of_older_steps() -> None:
    assert ids_of(reduced()["messages"]) == ["a", "b"]
    assert ids_of(reduced("old_calls")["messages"]) == ["b"]


def test_a_server_can_be_spared_pictures() -> None:
    assert "image_url" in json.dumps(reduced())
    assert "image_url" not in json.dumps(reduced("pictures"))


def test_nothing_but_text_is_left_at_the_end_of_the_way_down() -> None:
    body = reduced("all_but_text")
    assert "tools" not in body
    assert all(
        isinstance(entry["content"], str) and entry.keys() == {"role", "content"}
        for entry in body["messages"]
    )


lefts = st.frozensets(st.sampled_from(ORDER))


@given(histories, offered, lefts, lefts)
def test_whatever_is_left_out_a_strict_server_takes_the_rest(
    messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...], before: Left, after: Left
) -> None:
    compiler = ChatCompiler(HERE, ("reasoning_content",))
    whole = ModelRequest("m", "s", messages, offer)
    compiler.compile(whole, before)
    body = compiler.compile(whole, after)
    assert strict.refusal(json.dumps(body).encode()) is None
    assert body == ChatCompiler(HERE, ("reasoning_content",)).compile(whole, after)
