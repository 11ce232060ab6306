"""Histories: in the notation of ``repair_cases.jsonl``, read and compared; and sound, hurt or wild at random."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from hypothesis import strategies as st

from app.engine.messages import Block, Image, Marker, Message, Reasoning, Text, ToolCall, ToolResult
from app.engine.pairing import Outcome
from app.infra.ids import NewId

NOON = "2026-11-30T12:00:00.000Z"

Rows = Sequence[dict[str, Any]]


def read_history(rows: Rows, prefix: str = "m") -> tuple[Message, ...]:
    """Messages with ids ``m1``, ``m2`` and so on."""
    return tuple(read_message(row, f"{prefix}{number}") for number, row in enumerate(rows, 1))


def read_message(row: dict[str, Any], message_id: str) -> Message:
    role = "assistant" if row["role"] == "marker" else row["role"]
    return Message(role, tuple(read_block(block) for block in row["blocks"]), message_id, NOON)


def read_block(block: dict[str, Any]) -> Block:
    fields = {name: value for name, value in block.items() if name not in ("type", "kind")}
    match block["type"]:
        case "text":
            return Text(**fields)
        case "tool_call":
            return ToolCall(**fields)
        case "tool_result":
            return ToolResult(**{"text": "", **fields})
        case "image":
            return Image(**fields)
        case "reasoning":
            return Reasoning(**fields)
        case "marker":
            return Marker(block["kind"])
    raise AssertionError(block)


def counting_ids() -> NewId:
    numbers = count(1)
    return lambda prefix: f"{prefix}_new{next(numbers)}"


def read_outcome(row: dict[str, Any]) -> Outcome:
    parts = [read_block(part) for part in row["parts"]]
    error = "E_X" if row["status"] == "error" else None
    return Outcome.of_parts(row["call_id"], [part for part in parts if isinstance(part, Text | Image)], error)


def generated(turns: int) -> tuple[Message, ...]:
    """The long healthy history that rows of the stage ``generate`` begin with."""
    messages: list[Message] = []
    for turn in range(1, turns + 1):
        call = ToolCall(f"c{turn}", "read_file", {"path": f"f{turn}.txt"})
        messages += (
            Message("user", (Text(f"q{turn}"),), f"q{turn}", NOON),
            Message("assistant", (call,), f"a{turn}", NOON),
            Message("tool", (ToolResult(f"c{turn}", f"r{turn}"),), f"r{turn}", NOON),
            Message("assistant", (Text(f"a{turn}"),), f"e{turn}", NOON),
        )
    return tuple(messages)


def assert_history(messages: Iterable[Message], rows: Rows) -> None:
    """The messages are those of the rows, as the table compares."""
    expected = _written(read_history(rows))
    actual = _written(messages)
    given = {row_id for role, block in _blocks(expected) for row_id in _ids(block)}
    new_ids: dict[str, str] = {}
    for (_, wanted), (_, found) in zip(_blocks(expected), _blocks(actual), strict=False):
        for name, real in zip(_ids(wanted), _ids(found), strict=False):
            if name.startswith("?") and real not in given:
                new_ids.setdefault(name, real)
    assert actual == [(role, [_named(block, new_ids) for block in blocks]) for role, blocks in expected]


def _written(messages: Iterable[Message]) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Role and blocks of each message; neighbours of role tool are one, made-up texts are left out."""
    written: list[tuple[str, list[tuple[Any, ...]]]] = []
    for message in messages:
        blocks = [_block(block) for block in message.blocks]
        if written and written[-1][0] == message.role == "tool":
            written[-1][1].extend(blocks)
        else:
            written.append((message.role, blocks))
    return written


def _block(block: Block) -> tuple[Any, ...]:
    match block:
        case ToolCall():
            return ("call", block.id, block.name, dict(block.arguments))
        case ToolResult():
            made_up = block.status in ("interrupted", "outcome_unknown")
            return ("result", block.call_id, block.status, None if made_up else block.text)
    return (block,)


def _blocks(written: list[tuple[str, list[tuple[Any, ...]]]]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(role, block) for role, blocks in written for block in blocks]


def _ids(block: tuple[Any, ...]) -> list[str]:
    return [block[1]] if block[0] in ("call", "result") else []


def _named(block: tuple[Any, ...], new_ids: dict[str, str]) -> tuple[Any, ...]:
    return (block[0], new_ids.get(block[1], block[1]), *block[2:]) if _ids(block) else block


texts = st.sampled_from(["hello", "", "  \n", " x "]).map(Text)
pictures = st.sampled_from(["img1", "img2"]).map(Image)
thoughts = st.just(Reasoning("hm", "sig"))
call_ids = st.sampled_from(["c1", "c2", "c1_2", ""])
calls = st.builds(ToolCall, call_ids, st.sampled_from(["read_file", "bash"]))
results = st.builds(
    ToolResult,
    call_ids,
    st.sampled_from(["", "yes"]),
    st.sampled_from(["ok", "error", "interrupted", "outcome_unknown"]),
)
markers = st.just(Marker("stopped_by_user"))
anything = st.lists(st.one_of(texts, pictures, thoughts, calls, results, markers), max_size=4).map(tuple)


@st.composite
def wild_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Anything a file could hold, sense or nonsense."""
    bodies = draw(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), anything), max_size=8))
    return tuple(Message(role, blocks, f"m{number}", NOON) for number, (role, blocks) in enumerate(bodies))


@st.composite
def hurt_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """A sound history with ids of its own for every call, hurt in a few places."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(0, 3))):
        messages.append(Message("user", (Text(f"q{turn}"),), f"u{turn}", NOON))
        count = draw(st.integers(0, 3))
        asked = tuple(ToolCall(f"c{turn}{number}", "bash") for number in range(count))
        messages.append(Message("assistant", (Text(f"a{turn}"), *asked), f"a{turn}", NOON))
        for call in asked:
            result = ToolResult(
                call.id, f"r {call.id}", draw(st.sampled_from(["ok", "error", "interrupted"]))
            )
            messages.append(Message("tool", (result,), f"t{call.id}", NOON))
        if asked and draw(st.booleans()):
            messages.append(Message("user", (Image(f"i{turn}"),), f"i{turn}", NOON))
    for number in range(draw(st.integers(0, 4))):
        if messages:
            place = draw(st.integers(0, len(messages) - 1))
            draw(st.sampled_from(HURTS))(messages, place, f"h{number}", draw(st.integers(0, len(messages))))
    return tuple(messages)


def lose(messages: list[Message], place: int, name: str, other: int) -> None:
    del messages[place]


def move(messages: list[Message], place: int, name: str, other: int) -> None:
    messages.insert(other, messages.pop(place))


def repeat(messages: list[Message], place: int, name: str, other: int) -> None:
    if messages[place].role == "tool":
        messages.insert(other, messages[place])


def interrupt(messages: list[Message], place: int, name: str, other: int) -> None:
    messages.insert(place, Message("user", (Text(name), Text(" ")), name, NOON))


def add_a_stray(messages: list[Message], place: int, name: str, other: int) -> None:
    messages.insert(place, Message("tool", (ToolResult(name, "stray"),), name, NOON))


def mix(messages: list[Message], place: int, name: str, other: int) -> None:
    """Two neighbours become one message, as another program may have stored them."""
    if place + 1 < len(messages) and "assistant" not in (messages[place].role, messages[place + 1].role):
        blocks = messages[place].blocks + messages.pop(place + 1).blocks
        messages[place] = Message("user", blocks, name, NOON)


HURTS = [lose, move, repeat, interrupt, add_a_stray, mix]
