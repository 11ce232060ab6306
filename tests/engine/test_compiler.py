"""Whatever was stored, the request made of it is one that the strictest server of each wire takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.compiler import BEGINNING, GO_ON
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
from app.engine.pairing import open_calls, repair
from app.engine.pictures import NO_LONGER_SHOWN, NOT_SHOWN
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.request_checks import check_entries
from tests.engine.wires import (
    ANTHROPIC,
    HERE,
    NOON,
    RESPONSES,
    WIRES,
    Body,
    Wire,
    call_ids,
    entries_of,
    history,
    is_beginning,
    messages_of,
    request,
    spoken,
    tools,
)
from tests.fakes.pictures import PIXEL, encoded, png

on_each_wire = pytest.mark.parametrize("wire", WIRES, ids=str)
on_each_wire_of_blocks = pytest.mark.parametrize("wire", [w for w in WIRES if w is not RESPONSES], ids=str)
"""On the other one thinking is an item that belongs to what follows: see test_responses_writer.py."""
PICTURE = Image(media_type="image/png", data=PIXEL)


def room_of(body: Body) -> int | None:
    """In whatever spelling."""
    room: int | None = {**body, **body.get("options", {})}.get(
        next((name for name in ("max_tokens", "max_output_tokens") if name in body), "num_predict")
    )
    return room


@on_each_wire
@pytest.mark.parametrize(
    ("asked", "longest", "room"), [(5_000, 300, 300), (200, 300, 200), (5_000, None, 5_000)]
)
def test_no_wire_asks_for_more_than_the_model_can_answer_with(
    wire: Wire, asked: int, longest: int | None, room: int
) -> None:
    hello = history(("user", "Hello"))
    compiled = wire.compiled(request(hello, max_output_tokens=asked, longest_output=longest))
    assert room_of(compiled) == room


@on_each_wire
def test_a_wire_that_needs_a_number_takes_the_model_s_and_no_other_asks_for_one(wire: Wire) -> None:
    hello = request(history(("user", "Hello")), longest_output=300)
    assert room_of(wire.compiled(hello)) == (300 if wire is ANTHROPIC else None)


@on_each_wire
def test_a_stopped_turn_ends_in_a_mark_that_the_model_can_read(wire: Wire) -> None:
    stopped = history(
        ("user", "Count"),
        ("assistant", "One, two"),
        ("assistant", Marker("stopped_by_user")),
        ("user", "Why?"),
    )
    assert spoken(wire.compiled(request(stopped, system=""))) == [
        ("user", "Count"),
        ("assistant", "One, two\n\n[The user stopped this turn here.]"),
        ("user", "Why?"),
    ]


@on_each_wire
def test_a_history_that_ends_in_an_answer_asks_the_model_to_go_on(wire: Wire) -> None:
    cut = history(("user", "Count"), ("assistant", "One, two"))
    assert spoken(wire.compiled(request(cut)))[-1] == ("user", GO_ON)


@on_each_wire
def test_a_history_that_begins_with_an_answer_begins_with_a_user_all_the_same(wire: Wire) -> None:
    greeted = history(("assistant", "Hello"), ("user", "Hi"))
    assert spoken(wire.compiled(request(greeted, system="")))[0] == ("user", BEGINNING)


@on_each_wire
def test_calls_of_a_tool_that_is_gone_are_told_in_words(wire: Wire) -> None:
    step = history(
        ("user", "Draw"),
        ("assistant", "Sure.", ToolCall("a", "draw", {"what": "a cat"})),
        ("tool", ToolResult("a", "done")),
        ("assistant", "There."),
        ("user", "Thanks"),
    )
    assert spoken(wire.compiled(request(step, system="")))[1:4] == [
        ("assistant", 'Sure.\n\n[Called draw with {"what":"a cat"}]'),
        ("user", "[Result of draw]\ndone"),
        ("assistant", "There."),
    ]


@on_each_wire
def test_without_tools_no_call_is_left_in_the_request(wire: Wire) -> None:
    step = history(
        ("user", "Read"), ("assistant", ToolCall("a", "read_file")), ("tool", ToolResult("a", "text"))
    )
    body = wire.compiled(request(step, tools=()))
    assert "tools" not in body
    assert call_ids(body) == []


@on_each_wire
def test_a_mistaken_name_in_the_open_step_is_shown_to_the_model_as_it_called_it(wire: Wire) -> None:
    step = history(
        ("user", "Read"),
        ("assistant", ToolCall("a", "Read_File")),
        ("tool", ToolResult("a", "E_UNKNOWN", "error")),
    )
    body = wire.compiled(request(step))
    assert call_ids(body) == ["a"]
    assert '"Read_File"' in json.dumps(body)


def two_steps(first: str, second: str, origin: Origin | None = None) -> tuple[Message, ...]:
    return history(
        ("user", "Read"),
        ("assistant", ToolCall(first, "read_file")),
        ("tool", ToolResult(first, "1")),
        ("assistant", ToolCall(second, "read_file")),
        ("tool", ToolResult(second, "2")),
        origin=origin,
    )


@on_each_wire
def test_an_id_that_was_used_before_is_replaced_in_call_and_result_alike(wire: Wire) -> None:
    first, second = call_ids(wire.compiled(request(two_steps("call_0", "call_0"))))
    assert first == "call_0"
    assert second != first


@on_each_wire
def test_ids_of_other_servers_are_made_short_and_plain_and_stay_the_same_each_time(wire: Wire) -> None:
    foreign = request(two_steps("functions.read_file:0", "x" * 300, Origin("other", "model-b")))
    found = call_ids(wire.compiled(foreign))
    assert all(id.startswith("call_") and len(id) <= 40 for id in found)
    assert found == call_ids(wire.compiled(foreign))


@on_each_wire
def test_a_server_gets_its_own_ids_back_as_they_were(wire: Wire) -> None:
    own = "toolu_01" + "A" * 40 if wire in (ANTHROPIC, RESPONSES) else "functions.read_file:0"
    assert call_ids(wire.compiled(request(two_steps(own, "b", HERE)))) == [own, "b"]


SIGNED = Reasoning("Hm, a file.", data={"type": "thinking", "signature": "sig", "field": "reasoning_content"})


def thought(origin: Origin | None) -> tuple[Message, ...]:
    return history(("user", "Read"), ("assistant", SIGNED, "Well."), ("user", "So?"), origin=origin)


@on_each_wire_of_blocks
def test_thinking_goes_back_to_the_model_that_thought_it(wire: Wire) -> None:
    assert "Hm, a file." in json.dumps(wire.compiled(request(thought(HERE))))


@on_each_wire
@pytest.mark.parametrize(
    "origin",
    [
        None,
        Origin("local", "model-b", HERE.endpoint),
        Origin("other", "model-a", HERE.endpoint),
        Origin("local", "model-a", "http://elsewhere/v1"),
        Origin("local", "model-a"),
    ],
)
def test_thinking_of_anybody_else_is_left_out(wire: Wire, origin: Origin | None) -> None:
    body = wire.compiled(request(thought(origin)))
    assert "Hm, a file." not in json.dumps(body)
    assert ("assistant", "Well.") in spoken(body)


@on_each_wire
def test_halves_of_characters_and_nul_never_reach_the_wire(wire: Wire) -> None:
    step = history(
        ("user", "a\ud83d\0"),
        ("assistant", ToolCall("a", "read_file", {"path\udc00": "\ud83d", "x": ["\0"]})),
        ("tool", ToolResult("a", "\udc00\0")),
    )
    text = json.dumps(wire.compiled(request(step, system="\ud83d\ude80 \0")), ensure_ascii=False)
    assert "🚀" in text
    assert "\\u0000" not in text


@on_each_wire
@pytest.mark.parametrize("arguments", [{"x": float("nan")}, {"x": {1}}, {"x": 10**5000}])
def test_arguments_that_no_server_could_read_are_left_out(wire: Wire, arguments: dict[str, Any]) -> None:
    step = history(
        ("user", "Read"), ("assistant", ToolCall("a", "read_file", arguments)), ("tool", ToolResult("a", "1"))
    )
    assert call_ids(wire.compiled(request(step))) == ["a"]


@on_each_wire
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
    wire: Wire, fields: dict[str, Any], about: str
) -> None:
    base: dict[str, Any] = {"model": "m", "system": "", "messages": history(("user", "a"))}
    with pytest.raises(ProviderError, match=about) as caught:
        wire.compiler().compile(ModelRequest(**{**base, **fields}))
    assert caught.value.kind == "local"


READING = history(
    ("user", "Read"),
    ("assistant", ToolCall("a", "read_file"), ToolCall("b", "read_file")),
    ("tool", ToolResult("a", "A")),
    ("tool", ToolResult("b", "B")),
    ("user", "And?"),
)


@on_each_wire
def test_the_last_look_takes_what_was_compiled_and_refuses_what_lost_anything(wire: Wire) -> None:
    writer = wire.writer()
    entries = entries_of(wire.compiler().compile(request(READING, system="")))
    check_entries(writer, entries)
    for place in range(1, len(entries) - 1):
        if any(writer.paired(entries[place])):
            with pytest.raises(ProviderError, match="nothing was sent"):
                check_entries(writer, [*entries[:place], *entries[place + 1 :]])
    with pytest.raises(ProviderError, match="nothing was sent"):
        check_entries(writer, [{"role": "user", "content": ""}])


def album(count: int) -> tuple[Message, ...]:
    turns = (turn for n in range(count) for turn in (("user", f"{n}", PICTURE), ("assistant", "Nice.")))
    return history(*turns, ("user", "Which was best?"))


@on_each_wire
def test_of_too_many_pictures_the_older_half_is_mentioned_only(wire: Wire) -> None:
    most = wire.writer().pictures.most
    assert NO_LONGER_SHOWN not in json.dumps(wire.compiled(request(album(most))))
    text = json.dumps(wire.compiled(request(album(most + 1))))
    assert text.count(NO_LONGER_SHOWN) == most + 1 - most // 2
    assert text.index(NO_LONGER_SHOWN) < text.index(PIXEL)


@on_each_wire
def test_pictures_that_go_are_the_same_for_a_compiler_that_saw_the_history_grow(wire: Wire) -> None:
    whole = album(wire.writer().pictures.most * 2 + 3)
    compiler = wire.compiler()
    for end in range(1, len(whole) + 1, 2):
        grown = compiler.compile(request(whole[:end]))
    assert grown == wire.compiled(request(whole))


@on_each_wire
def test_a_picture_by_reference_is_loaded_and_one_that_is_gone_is_said_to_be(wire: Wire) -> None:
    stored = {"attachments/a.png": ("image/png", png(7, 7))}
    said = history(("user", Image(ref="attachments/a.png"), Image(ref="attachments/b.png")))
    text = json.dumps(wire.compiled(request(said), load_image=stored.get))
    assert encoded(png(7, 7)) in text
    assert text.count(NOT_SHOWN) == 1


@on_each_wire
def test_a_picture_is_loaded_once_however_often_its_history_is_written(wire: Wire) -> None:
    loaded: list[str] = []

    def load(ref: str) -> tuple[str, bytes]:
        loaded.append(ref)
        return "image/png", png(7, 7)

    compiler = wire.compiler(load_image=load)
    said = history(("user", Image(ref="a")), ("assistant", "Nice."), ("user", "And?", Image(ref="b")))
    for end, given_tools in ((1, ()), (1, tools("look")), (3, tools("look")), (3, ())):
        given = request(said[:end], tools=given_tools)
        compiler.look(compiler.unseen(given))()
        assert compiler.unseen(given) == ()
        compiler.compile(given)
    assert loaded == ["a", "b"]


@on_each_wire
def test_no_picture_is_loaded_for_a_server_that_is_spared_them(wire: Wire) -> None:
    compiler = wire.compiler(load_image={}.__getitem__)
    given, blind = request(history(("user", "Look", Image(ref="a")))), frozenset({"pictures"})
    assert compiler.unseen(given, blind) == ()
    compiler.compile(given, blind)
    assert compiler.unseen(given) == (Image(ref="a"),)


@on_each_wire
def test_a_picture_in_an_answer_is_mentioned_as_no_server_takes_it_there(wire: Wire) -> None:
    drawn = history(("user", "Draw"), ("assistant", "There:", PICTURE), ("user", "Thanks"))
    assert ("assistant", f"There:\n\n{NOT_SHOWN}") in spoken(wire.compiled(request(drawn)))


@on_each_wire
def test_after_a_failure_on_the_way_the_history_is_written_anew(wire: Wire) -> None:
    found: dict[str, tuple[str, bytes]] = {}
    compiler = wire.compiler(load_image=found.__getitem__)
    shown = history(("user", "Look"), ("assistant", "At what?"), ("user", "This", Image(ref="a")))
    compiler.compile(request(shown[:2]))
    with pytest.raises(KeyError):
        compiler.compile(request(shown))
    found["a"] = ("image/png", png())
    body = compiler.compile(request(shown))
    assert body == wire.compiled(request(shown), load_image=found.__getitem__)


texts = st.sampled_from(["", " ", "word", "\ud83d", "\udc00x", "\0", "à 🚀", "[DONE]", "\n\n", "tail  \n"])
ids = st.sampled_from(["", "a", "b", "call_0", "x" * 70, "functions.f:0", "à", "a b"])
names = st.sampled_from(["read_file", "gone", "", "two words", "x" * 90, "à"])
values = st.recursive(
    st.none() | texts | st.integers() | st.floats(),
    lambda v: st.lists(v, max_size=2) | st.dictionaries(texts, v, max_size=2),
    max_leaves=4,
)
results = st.builds(ToolResult, ids, texts, st.sampled_from(["ok", "error", "interrupted"]))
images = st.builds(
    Image,
    st.none() | texts,
    st.sampled_from([None, "image/png", "image/x"]),
    st.sampled_from([None, "", "%", PIXEL]),
)
details = st.sampled_from(
    [
        None,
        {"field": "reasoning_content"},
        {"role": "system"},
        {"type": "thinking", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "redacted_thinking", "data": 1},
        {"type": "message", "id": "msg_1", "phase": "commentary"},
        {"type": "reasoning", "id": 1, "encrypted_content": "\ud83d"},
    ]
)
thinking = st.builds(Reasoning, texts, st.sampled_from([None, "", "sig", "\ud83d"]), details)


def histories_of(calls: st.SearchStrategy[ToolCall]) -> st.SearchStrategy[tuple[Message, ...]]:
    markers = st.builds(Marker, st.sampled_from(["stopped_by_user", "interrupted"]))
    blocks: st.SearchStrategy[Block] = st.one_of(
        st.builds(Text, texts), calls, calls, results, results, images, thinking, markers
    )
    origins = st.sampled_from([None, HERE, Origin("other", "model-a")])
    roles = st.sampled_from(["user", "assistant", "tool"])
    rows = st.lists(st.tuples(roles, st.lists(blocks, max_size=4), origins), min_size=1, max_size=12)
    return rows.map(
        lambda rows: tuple(
            Message(role, tuple(found), f"m{n}", NOON, origin) for n, (role, found, origin) in enumerate(rows)
        )
    )


histories = histories_of(st.builds(ToolCall, ids, names, st.dictionaries(texts, values, max_size=3)))
known_calls = histories_of(st.builds(ToolCall, ids, st.sampled_from(["read_file", "other"])))
offered = st.sampled_from([(), tools("read_file"), tools("read_file", "other")])
lefts = st.frozensets(st.sampled_from(ORDER))


@on_each_wire
@given(messages=histories, offer=offered, system=texts)
def test_any_history_compiles_to_a_request_that_a_strict_server_takes(
    wire: Wire, messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...], system: str
) -> None:
    for stored in (messages, repair(messages)):
        if stored:
            wire.compiled(ModelRequest("m", system, stored, offer))


@on_each_wire
@given(messages=histories, offer=offered, known=st.integers(0, 12), same_tools=st.booleans())
def test_a_compiler_that_knows_the_beginning_writes_the_same(
    wire: Wire, messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...], known: int, same_tools: bool
) -> None:
    paired = repair(messages) or history(("user", "x"))
    compiler = wire.compiler()
    for end in (known, known + 1):
        if paired[:end]:
            compiler.compile(ModelRequest("m", "s", paired[:end], offer if same_tools else ()))
    whole = ModelRequest("m", "s", paired, offer)
    assert compiler.compile(whole) == wire.compiled(whole)


def without_frame(body: Body) -> list[Body]:
    *before, last = messages_of(body)
    return before if GO_ON in json.dumps(last) else messages_of(body)


@on_each_wire
@given(messages=known_calls, ends=st.lists(st.integers(1, 12), max_size=4))
def test_what_was_sent_is_the_beginning_of_what_is_sent_next_so_that_caches_hit(
    wire: Wire, messages: tuple[Message, ...], ends: list[int]
) -> None:
    paired = repair(messages) or history(("user", "x"))
    compiler, sent = wire.compiler(), None
    for end in (*sorted(ends), len(paired)):
        if open_calls(paired[:end]):
            continue
        body = compiler.compile(ModelRequest("m", "s", paired[:end], tools("read_file", "other")))
        assert sent is None or is_beginning(sent, messages_of(body))
        sent = without_frame(body)


@on_each_wire
def test_the_beginning_of_a_grown_history_is_not_written_again(wire: Wire) -> None:
    steps = two_steps("a", "b")
    compiler = wire.compiler()
    before = messages_of(compiler.compile(request(steps[:3], system="")))
    after = messages_of(compiler.compile(request(steps, system="")))
    assert after[: len(before)] == before
    assert all(old is new for old, new in zip(before, after, strict=False))


TOLD = history(
    ("user", "Look", PICTURE),
    ("assistant", SIGNED, ToolCall("a", "read_file")),
    ("tool", ToolResult("a", "A")),
    ("assistant", SIGNED, ToolCall("b", "read_file")),
    ("tool", ToolResult("b", "B")),
    origin=HERE,
)


def reduced(wire: Wire, *parts: Part) -> Body:
    return wire.compiled(request(TOLD), frozenset(parts))


@on_each_wire_of_blocks
def test_a_server_can_be_spared_thinking(wire: Wire) -> None:
    assert "Hm, a file." in json.dumps(reduced(wire))
    assert "Hm, a file." not in json.dumps(reduced(wire, "thinking"))


@on_each_wire
def test_a_server_can_be_spared_the_calls_of_older_steps(wire: Wire) -> None:
    assert call_ids(reduced(wire)) == ["a", "b"]
    assert call_ids(reduced(wire, "old_calls")) == ["b"]


@on_each_wire
def test_a_server_can_be_spared_pictures(wire: Wire) -> None:
    assert PIXEL in json.dumps(reduced(wire))
    assert PIXEL not in json.dumps(reduced(wire, "pictures"))


@on_each_wire
def test_nothing_but_text_is_left_at_the_end_of_the_way_down(wire: Wire) -> None:
    body = reduced(wire, "all_but_text")
    assert "tools" not in body
    assert all(entry.keys() - {"type"} == {"role", "content"} for entry in messages_of(body))
    contents = [entry["content"] for entry in messages_of(body)]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    assert all(block["type"].endswith("text") for block in blocks)


@on_each_wire
@given(messages=histories, offer=offered, before=lefts, after=lefts)
def test_whatever_is_left_out_a_strict_server_takes_the_rest(
    wire: Wire, messages: tuple[Message, ...], offer: tuple[ToolDefinition, ...], before: Left, after: Left
) -> None:
    compiler = wire.compiler()
    whole = ModelRequest("m", "s", messages, offer)
    compiler.compile(whole, before)
    body = wire.looked_at(compiler.compile(whole, after))
    assert body == wire.compiled(whole, after)
