"""Every event of a run as a line: the names of the contract, and nothing else."""

from __future__ import annotations

import io
import json
from typing import Any, get_args

import pytest

from app.commands.event_lines import EventLines, fields_of
from app.commands.terminal import Terminal
from app.engine import events as engine
from app.engine.messages import Image
from app.group_chat.events import RoomEvent

TOTALS = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "cost": 0.0,
}
NO_ERRORS = {"transient": 0, "permanent": 0}

SAID: list[tuple[engine.Event, dict[str, Any]]] = [
    (engine.TextDelta("a", "msg_1"), {"text": "a"}),
    (engine.ReasoningDelta("a", "msg_1"), {"text": "a"}),
    (engine.Steer("a", "msg_1"), {"text": "a"}),
    (engine.ToolDelta("c", "bash", "{"), {"call_id": "c", "name": "bash", "text": "{"}),
    (engine.ToolStart("c", "bash", {"x": 1}), {"call_id": "c", "name": "bash", "arguments": {"x": 1}}),
    (
        engine.Approval("ask_1", "c", "command", {"payload": "git push"}),
        {"id": "ask_1", "call_id": "c", "kind": "command", "subject": {"payload": "git push"}},
    ),
    (engine.ToolProgress("c"), {"call_id": "c"}),
    (engine.ToolProgress("c", "half", 1, 2), {"call_id": "c", "text": "half", "done": 1, "total": 2}),
    (
        engine.ToolEnd("c", "bash", "ok", False, None, 3),
        {"call_id": "c", "name": "bash", "result": "ok", "is_error": False, "duration_ms": 3},
    ),
    (
        engine.ToolEnd("c", "bash", "E_X: no", True, "E_X", 3),
        {
            "call_id": "c",
            "name": "bash",
            "result": "E_X: no",
            "is_error": True,
            "error_code": "E_X",
            "duration_ms": 3,
        },
    ),
    (
        engine.ToolEnd("c", "look", "ok", False, None, 3, (Image("results/c/img_1.png"),)),
        {"call_id": "c", "name": "look", "result": "ok", "is_error": False, "duration_ms": 3},
    ),
    (engine.Compaction(9, 3, "m"), {"tokens_before": 9, "tokens_after": 3}),
    (engine.Retry(1, 2000, "busy"), {"attempt": 1, "wait_ms": 2000, "reason": "busy"}),
    (engine.Fallback("a/b", "c/d", "busy"), {"from": "a/b", "to": "c/d", "reason": "busy"}),
    (
        engine.Omission("a/b", ("pictures",), "Not seen."),
        {"model": "a/b", "parts": ["pictures"], "reason": "Not seen."},
    ),
    (engine.LoopWarning("bash", 3), {"name": "bash", "count": 3}),
    (
        engine.Usage("p", "m", 1, 2, 3, 4, None, True, 5, 6, "ok"),
        {
            "provider": "p",
            "model": "m",
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_tokens": 3,
            "cache_write_tokens": 4,
            "cost": None,
            "estimated": True,
        },
    ),
    (
        engine.Done("completed", "a", steps=1),
        {"status": "completed", "text": "a", "usage": TOTALS, "steps": 1, "tool_errors": NO_ERRORS},
    ),
    (
        engine.Done("failed", "", "budget", engine.Failure("budget", "Spent.")),
        {
            "status": "failed",
            "reason": "budget",
            "error": {"kind": "budget", "message": "Spent."},
            "text": "",
            "usage": TOTALS,
            "steps": 0,
            "tool_errors": NO_ERRORS,
        },
    ),
]


@pytest.mark.parametrize(
    ("event", "fields"), SAID, ids=[f"{event.type}-{number}" for number, (event, _) in enumerate(SAID)]
)
def test_an_event_says_what_the_contract_names(event: engine.Event, fields: dict[str, Any]) -> None:
    assert fields_of(event) == fields


def test_every_event_is_looked_at_here() -> None:
    assert {type(event) for event, _ in SAID} == set(get_args(engine.Event))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_line_is_whole_json_in_every_encoding(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace", newline="\n")
    lines = EventLines(Terminal(io.StringIO(), out, io.StringIO(), {}, lambda _: ""))
    texts = ["käse ☃ 🐙", "two\nlines", "\x1b[31m"]
    for text in texts:
        event = engine.TextDelta(text, "msg_1")
        lines.take(
            RoomEvent("conv_1", "commander", "turn_1", "2026-11-30T14:10:24.871Z", event, "msg_1"), event
        )
    out.flush()
    read = [json.loads(line) for line in raw.getvalue().decode(encoding).splitlines()]
    assert [line["text"] for line in read] == texts
    assert read[0] == {
        "type": "text_delta",
        "seq": 1,
        "time": "2026-11-30T14:10:24.871Z",
        "conversation": "conv_1",
        "member": "commander",
        "turn": "turn_1",
        "text": "käse ☃ 🐙",
    }
