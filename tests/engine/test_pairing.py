"""Calls and results are paired, whatever happened to a history."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine import pairing
from app.engine.messages import Message, Text
from tests.case_tables import load_jsonl
from tests.engine.histories import (
    NOON,
    assert_history,
    counting_ids,
    generated,
    read_history,
    read_message,
    read_outcome,
)

ROWS = load_jsonl("repair_cases.jsonl")


def rows_of(*stages: str) -> pytest.MarkDecorator:
    rows = [row for row in ROWS if row["stage"] in stages]
    return pytest.mark.parametrize("row", rows, ids=[row["id"] for row in rows])


@rows_of("load")
def test_a_history_is_repaired_as_the_table_says(row: dict[str, Any]) -> None:
    repaired = pairing.repair(read_history(row["before"]), started=frozenset(row.get("started", ())))
    assert_history(repaired, row["after"])
    assert pairing.repair(repaired) == repaired


@rows_of("load", "append", "abort", "file")
def test_what_the_table_calls_repaired_needs_no_repair(row: dict[str, Any]) -> None:
    after = row["after"]
    assert_history(pairing.repair(read_history(after)), after)


@rows_of("append")
def test_outcomes_are_stored_in_declared_order(row: dict[str, Any]) -> None:
    before = read_history(row["before"])
    results = pairing.results_in_order(
        pairing.open_calls(before),
        [read_outcome(outcome) for outcome in row["outcomes"] if "steer" not in outcome],
        new_id=counting_ids(),
        time=NOON,
    )
    steered = [
        Message("user", (Text(outcome["steer"]),), f"s{number}", NOON)
        for number, outcome in enumerate(row["outcomes"])
        if "steer" in outcome
    ]
    assert_history([*before, *results, *steered], row["after"])
    assert_history(pairing.repair([*before, *steered, *results]), row["after"])


@rows_of("abort")
def test_a_stopped_step_is_closed_as_the_table_says(row: dict[str, Any]) -> None:
    before = read_history(row["before"])
    closing = pairing.close_step(
        before,
        [read_outcome(outcome) for outcome in row["outcomes"]],
        running=row["running"],
        new_id=counting_ids(),
        time=NOON,
    )
    history = pairing.repair([*before, *closing])
    assert_history(history, row["after"])
    assert pairing.close_step(history, new_id=counting_ids(), time=NOON) == ()
    following = read_message(row["next"], "next")
    assert pairing.fits(history, following)
    assert pairing.repair([*history, following]) == (*history, following)


@rows_of("generate")
def test_a_long_history_is_healed_only_where_it_is_hurt(row: dict[str, Any]) -> None:
    head = generated(row["turns"])
    repaired = pairing.repair((*head, *read_history(row["tail_before"], "t")))
    assert repaired[: len(head)] == head
    assert_history(repaired[len(head) :], row["tail_after"])
    assert all(kept is given for kept, given in zip(repaired, head, strict=False))
