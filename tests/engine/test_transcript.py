"""A message and its line are the same thing in two forms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.messages import (
    Block,
    Image,
    Marker,
    Message,
    Origin,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
)
from app.engine.transcript import Unreadable, decode, decode_all, encode, storable

NOON = "2026-11-30T12:00:00.000Z"

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), anything, max_size=3)
maybe = st.none() | st.text()
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, st.text()),
    st.builds(Reasoning, st.text(), maybe, st.none() | objects),
    st.builds(
        ToolCall,
        st.text(),
        st.text(),
        objects,
        st.sampled_from([None, "not_json", "incomplete"]),
        maybe,
        st.none() | objects,
    ),
    st.builds(
        ToolResult,
        st.text(),
        st.text(),
        st.sampled_from(["ok", "error", "interrupted", "outcome_unknown"]),
        maybe,
    ),
    st.builds(Image, maybe, maybe, maybe),
    st.builds(Marker, st.sampled_from(["stopped_by_user", "interrupted"])),
)
origins = st.none() | st.builds(Origin, st.text(), st.text(), maybe)
roles = st.sampled_from(["user", "assistant", "tool"])
summaries = st.none() | st.builds(
    Summary, maybe, st.lists(st.text(), max_size=2).map(tuple), st.integers(0, 2**40), st.integers(0, 2**40)
)
bodies = st.lists(blocks, max_size=4).map(tuple)
messages = st.builds(Message, roles, bodies, st.text(), st.text(), origins, summaries)


@given(messages, st.integers(0, 2**40))
def test_a_message_survives_its_line(message: Message, seq: int) -> None:
    line = encode(message, seq)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == (message, seq)
    assert decode(line.replace(b"\n", b"\r\n")) == (message, seq)
    assert decode_all(line * 2) == ([message] * 2, seq)
    json.loads(line)


def test_a_line_has_the_keys_of_the_contract() -> None:
    message = Message(
        "assistant",
        (Text("è"), ToolCall("c1", "read_file", {"path": "a.txt"})),
        "msg_1",
        NOON,
        Origin("local", "small"),
    )
    assert encode(message, 3).decode() == (
        '{"id":"msg_1","seq":3,"time":"2026-11-30T12:00:00.000Z","role":"assistant","blocks":['
        '{"type":"text","text":"è"},'
        '{"type":"tool_call","id":"c1","name":"read_file","arguments":{"path":"a.txt"}}],'
        '"origin":{"provider":"local","model":"small"}}\n'
    )
    marker = Message("assistant", (Marker("stopped_by_user"),), "msg_2", NOON)
    assert b'"blocks":[{"type":"marker","kind":"stopped_by_user"}]' in encode(marker, 4)
    summary = Message("user", (Text("so far"),), "msg_3", NOON, summary=Summary("msg_2", ("msg_0",), 900, 90))
    assert encode(summary, 5).endswith(
        b'"summary":{"kept_from":"msg_2","resend":["msg_0"],"tokens_before":900,"tokens_after":90}}\n'
    )


@given(messages, st.data())
def test_no_beginning_of_a_line_reads_as_a_message(message: Message, data: st.DataObject) -> None:
    line = encode(message, 1)[:-1]
    with pytest.raises(Unreadable):
        decode(line[: data.draw(st.integers(0, len(line) - 1))])


@given(st.binary() | anything.map(lambda value: json.dumps(value).encode()))
def test_whatever_else_stands_on_a_line_is_unreadable_and_no_worse(line: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(line)


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b'{"id":' * 50_000, b'{"id":' + b"9" * 10_000 + b"}", b"\0" * 100],
    ids=["deep list", "deep object", "long number", "zeros"],
)
def test_hostile_lines_are_unreadable(line: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(line)


def test_keys_of_a_newer_program_are_passed_over_and_blocks_of_it_are_not() -> None:
    line = encode(Message("user", (Text("hi"),), "m", NOON), 1)
    newer = line.replace(b'"seq":1', b'"seq":1,"parent":"m0"').replace(
        b'"text":"hi"', b'"text":"hi","lang":"it"'
    )
    assert decode(newer) == decode(line)
    with pytest.raises(Unreadable):
        decode(line.replace(b'"type":"text"', b'"type":"hologram"'))


def test_lone_surrogates_never_reach_a_file() -> None:
    message = Message(
        "assistant",
        (Text("a\ud83db"), ToolCall("c", "t", {"k\udc00": ["\udfff", {"x": "👩‍👩‍👧"}]}), Reasoning("\ud800")),
        "m",
        NOON,
        Origin("p", "m"),
    )
    with pytest.raises(UnicodeEncodeError):
        encode(message, 1)
    clean = storable(message)
    assert clean.blocks == (
        Text("a�b"),
        ToolCall("c", "t", {"k�": ["�", {"x": "👩‍👩‍👧"}]}),
        Reasoning("�"),
    )
    assert decode(encode(clean, 1)) == (clean, 1)


def test_old_lines_with_bad_characters_still_load() -> None:
    line = encode(Message("user", (Text("abc"),), "m", NOON), 1)
    for bad in (rb"\ud800", b"\xff", b"\x00"):
        message, _ = decode(line.replace(b"abc", b"a" + bad + b"c"))
        assert message.text in ("a�c", "a\x00c")
    pair, _ = decode(line.replace(b"abc", rb"\ud83d\ude00"))
    assert pair.text == "😀"
