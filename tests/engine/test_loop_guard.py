"""Runs that go in circles are noticed, and what only looks like it is left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.loop_guard import IDLE_STOP_AFTER, IDLE_WARN_AT, Loop, LoopGuard, signature_of
from app.engine.messages import ToolCall
from tests.case_tables import load_jsonl

ROWS = load_jsonl("loop_guard.jsonl")


@dataclass
class Watched:
    """Where the warnings came, and before which call the run was stopped; 1 is the first call."""

    warned: list[int] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    stopped: int | None = None


def watch(calls: Iterable[dict[str, Any]]) -> Watched:
    guard, seen = LoopGuard(), Watched()
    numbered = list(enumerate(calls, 1))
    for _, step in groupby(numbered, key=lambda one: one[1].get("step", -one[0])):
        last = 0
        for number, row in step:
            call = ToolCall("c", row["name"], row["arguments"])
            if (loop := guard.before(call)) is not None:
                seen.loops.append(loop)
                seen.stopped = number
                return seen
            note(seen, number, guard.after(call, row["result"], row.get("error", False)))
            last = number
        note(seen, last, guard.end_step())
    return seen


def note(seen: Watched, number: int, loop: Loop | None) -> None:
    if loop is not None:
        seen.warned.append(number)
        seen.loops.append(loop)


def made(name: str, result: str = "ok", *, error: bool = False, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "result": result, "error": error}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_loop_is_warned_of_and_stopped_as_the_table_says(row: dict[str, Any]) -> None:
    seen = watch(row["calls"])
    if "warn_between" in row:
        (first, last), (least, most) = row["warn_between"], row["stop_between"]
        assert seen.warned
        assert all(first <= number <= last for number in seen.warned)
        assert seen.stopped is not None
        assert least <= seen.stopped <= most
    else:
        assert set(seen.warned) <= {*row["warn_at"], row.get("warn_at_most")}
        assert set(row["warn_at"]) <= set(seen.warned)
        assert seen.stopped == row["stop_before"]


def test_equal_calls_that_run_side_by_side_are_stopped_at_the_fifth() -> None:
    guard = LoopGuard()
    calls = [ToolCall(f"c{number}", "read_file", {"path": "a"}) for number in range(1, 6)]
    assert [guard.before(call) for call in calls[:4]] == [None] * 4
    assert guard.before(calls[4]) == Loop("repeat", "read_file", 4)
    warnings = [guard.after(call, "alpha", False) for call in reversed(calls[:4])]
    assert sum(loop is not None for loop in warnings) == 1


@pytest.mark.parametrize("key", ["request_id", "requestId", "Request-ID", "NONCE", "createdAt"])
def test_volatile_keys_are_known_in_any_spelling_and_depth(key: str) -> None:
    def call(value: str) -> ToolCall:
        return ToolCall("c", "ping", {"hosts": [{"name": "a", key: value}]})

    assert signature_of(call("1")) == signature_of(call("2"))


@pytest.mark.parametrize("key", ["id", "request", "time", "created", "timestamps", "trace", "at", "since"])
def test_keys_that_only_look_volatile_count(key: str) -> None:
    assert signature_of(ToolCall("c", "ping", {key: 1})) != signature_of(ToolCall("c", "ping", {key: 2}))


def test_two_calls_that_could_not_be_read_differ_by_what_was_written() -> None:
    one, other = (ToolCall("c", "bash", {}, "not_json", raw) for raw in ("{a", "{b"))
    assert signature_of(one) != signature_of(other)


def test_waiting_between_two_looks_is_no_loop_while_the_answer_moves() -> None:
    calls = [
        row
        for number in range(12)
        for row in (made("bash", "", command="sleep 5"), made("job_read", f"{number} %", job="j1"))
    ]
    assert watch(calls) == Watched()


def test_an_answer_that_goes_back_and_forth_is_still_polling() -> None:
    assert watch([made("status", str(number % 2)) for number in range(30)]) == Watched()


def test_a_success_after_errors_begins_the_count_anew() -> None:
    failing = made("bash", "no", error=True, command="make")
    seen = watch([failing, failing, made("bash", "built", command="make"), failing, failing])
    assert seen.warned == [5]


def test_another_error_text_does_not_make_it_another_call() -> None:
    seen = watch([made("bash", f"exit {number}", error=True, command="make") for number in range(6)])
    assert (seen.warned, seen.stopped) == ([3], 5)


def test_a_ring_longer_than_any_looked_for_brings_nothing_new() -> None:
    ring = [made("read_file", name, path=name) for name in "abcdef"]
    seen = watch(ring * 5)
    assert seen.loops[0] == Loop("idle", "read_file", IDLE_WARN_AT)
    assert (seen.warned, seen.stopped) == ([6 + IDLE_WARN_AT], 6 + IDLE_STOP_AFTER + 1)


def test_one_step_of_many_failures_is_one_step() -> None:
    calls = [
        made("read_file", "E_NOT_FOUND", error=True, path=f"{number}") | {"step": 1} for number in range(30)
    ]
    assert watch(calls) == Watched()


def test_a_step_with_one_success_is_no_idle_step() -> None:
    calls = [
        row | {"step": step}
        for step in range(30)
        for row in (
            made("read_file", "E_NOT_FOUND", error=True, path=f"{step}"),
            made("edit_file", path="a", old=str(step)),
        )
    ]
    assert watch(calls) == Watched()


def test_every_warning_says_what_was_seen_and_what_to_do() -> None:
    for loop in (Loop("repeat", "bash", 3), Loop("ring", "bash", 3), Loop("idle", "bash", 8)):
        assert str(loop.count) in loop.warning
        assert "try something different" in loop.warning


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()), max_size=60))
def test_a_call_that_never_came_before_is_run_unless_steps_brought_nothing(
    calls: list[tuple[str, str, bool]],
) -> None:
    guard = LoopGuard()
    for name, text, is_error in calls:
        call = ToolCall("c", name)
        if guard.before(call) is None:
            guard.after(call, text, is_error)
        guard.end_step()
    fresh = ToolCall("c", "fresh")
    loop = guard.before(fresh)
    assert loop is None or loop.kind == "idle"


def test_what_it_remembers_is_bounded() -> None:
    guard = LoopGuard()
    for number in range(5_000):
        call = ToolCall(f"c{number}", "read_file", {"path": f"{number}"})
        assert guard.before(call) is None
        guard.after(call, "\ud83d", False)
        guard.end_step()
    assert all(len(kept) <= 512 for kept in (guard._recent, guard._known, guard._running))
