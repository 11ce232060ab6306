"""Histories in the notation of ``repair_cases.jsonl``, read into messages and compared with messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

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
