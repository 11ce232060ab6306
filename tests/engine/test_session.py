"""A session keeps what it was given, whatever happens to its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.engine import pairing
from app.engine.messages import Message, Text, ToolCall, ToolResult
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.transcript import encode
from tests.case_tables import load_jsonl
from tests.engine.damage import damaged
from tests.engine.histories import (
    NOON,
    assert_history,
    counting_ids,
    generated,
    read_history,
    read_message,
    read_outcome,
)

pytestmark = pytest.mark.anyio

ROWS = load_jsonl("repair_cases.jsonl")


def rows_of(*stages: str) -> pytest.MarkDecorator:
    rows = [row for row in ROWS if row["stage"] in stages]
    return pytest.mark.parametrize("row", rows, ids=[row["id"] for row in rows])


def lines_of(messages: tuple[Message, ...]) -> bytes:
    return b"".join(encode(message, seq) for seq, message in enumerate(messages, 1))


def said(text: str, message_id: str) -> Message:
    return Message("user", (Text(text),), message_id, NOON)


def asked(message_id: str, *calls: str, name: str = "read_file") -> Message:
    return Message("assistant", tuple(ToolCall(call, name) for call in calls), message_id, NOON)


def answered(message_id: str, call: str, text: str = "done") -> Message:
    return Message("tool", (ToolResult(call, text),), message_id, NOON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s1.jsonl"


async def both_sessions(path: Path) -> list[Session]:
    return [MemorySession("s1"), await JsonlSession.open(path)]


@rows_of("load")
async def test_a_stored_history_is_repaired_when_it_is_loaded(row: dict[str, Any], path: Path) -> None:
    stored = lines_of(read_history(row["before"]))
    path.write_bytes(stored)
    path.with_suffix(".started").write_text(
        "".join(json.dumps(["", call_id]) + "\n" for call_id in row.get("started", ()))
    )
    session = await JsonlSession.open(path)
    assert_history(session.messages, row["after"])
    assert path.read_bytes() == stored
    await session.append(said("and then?", "next"))
    again = await JsonlSession.open(path)
    assert again.messages == session.messages
    assert again.messages[-1].id == "next"
    assert path.read_bytes().startswith(stored)


@rows_of("file")
async def test_a_damaged_file_gives_what_is_left_of_it(row: dict[str, Any], path: Path) -> None:
    path.write_bytes(damaged(lines_of(read_history(row["lines"])), row["damage"]))
    before = path.read_bytes()
    session = await JsonlSession.open(path)
    assert_history(session.messages, row["after"])
    assert len(session.marks) == row["marks"]
    loose = b"".join(file.read_bytes() for file in path.parent.glob("s1.jsonl.torn-*"))
    assert bool(loose) == row["set_aside"]
    assert path.read_bytes() + loose == before
    await session.append(read_message(row["then_append"], "next"))
    assert path.read_bytes().startswith(before.removesuffix(loose))
    again = await JsonlSession.open(path)
    assert_history(again.messages, row["after_append"])
    assert again.messages == session.messages
    assert again.marks == session.marks


@rows_of("append")
async def test_outcomes_and_steering_find_their_place(row: dict[str, Any], path: Path) -> None:
    for session in await both_sessions(path):
        await session.append(*read_history(row["before"]))
        calls = pairing.open_calls(session.messages)
        for number, outcome in enumerate(row["outcomes"]):
            if "steer" in outcome:
                await session.append(said(outcome["steer"], f"steer{number}"))
        outcomes = [read_outcome(outcome) for outcome in row["outcomes"] if "steer" not in outcome]
        results = pairing.results_in_order(calls, outcomes, new_id=counting_ids(), time=NOON)
        await session.append(*results)
        assert_history(session.messages, row["after"])
    assert (await JsonlSession.open(path)).messages == session.messages


@rows_of("abort")
async def test_a_stopped_run_leaves_a_history_that_goes_on(row: dict[str, Any], path: Path) -> None:
    for session in await both_sessions(path):
        await session.append(*read_history(row["before"]))
        closing = pairing.close_step(
            session.messages,
            [read_outcome(outcome) for outcome in row["outcomes"]],
            running=row["running"],
            new_id=counting_ids(),
            time=NOON,
        )
        await session.append(*closing)
        assert_history(session.messages, row["after"])
        await session.append(read_message(row["next"], "next"))
        assert_history(session.messages, [*row["after"], row["next"]])
    assert (await JsonlSession.open(path)).messages == session.messages


@rows_of("generate")
async def test_a_long_history_keeps_its_head_in_memory_and_on_disk(row: dict[str, Any], path: Path) -> None:
    head = generated(row["turns"])
    path.write_bytes(lines_of((*head, *read_history(row["tail_before"], "t"))))
    before = path.read_bytes()
    session = await JsonlSession.open(path)
    assert session.messages[: len(head)] == head
    assert_history(session.messages[len(head) :], row["tail_after"])
    assert path.read_bytes() == before
