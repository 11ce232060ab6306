"""Calls and results are paired, whatever happened to a history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine import pairing
from app.engine.messages import Message, Text, ToolResult
from app.engine.weave import Weave, is_mutating
from tests.case_tables import load_jsonl
from tests.engine.histories import (
    NOON,
    assert_history,
    call_ids,
    counting_ids,
    generated,
    hurt_histories,
    read_history,
    read_message,
    read_outcome,
    wild_histories,
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


def woven(messages: tuple[Message, ...], **how: Any) -> tuple[Message, ...]:
    """The long way round, which a paired history is usually spared."""
    weave = Weave()
    for message in messages:
        weave.add(message)
    return weave.finish(how.get("started", ()), is_mutating, how.get("open_end", False)).messages


@given(wild_histories() | hurt_histories(), st.sets(call_ids))
def test_every_history_becomes_paired_and_then_stays_as_it_is(
    history: tuple[Message, ...], started: set[str]
) -> None:
    repaired = pairing.repair(history, started=started)
    assert pairing.repair(repaired) == repaired == woven(repaired)
    waiting: list[str] = []
    for message in repaired:
        assert message.blocks
        if message.role == "tool":
            assert [result.call_id for result in message.results] == [waiting.pop(0)]
            assert len(message.blocks) == 1
        else:
            assert not waiting
            assert not message.results
            waiting = [call.id for call in message.calls]
            assert len(set(waiting)) == len(waiting)
            assert message.role == "assistant" or not waiting
    assert not waiting


@given(hurt_histories())
def test_the_beginning_of_a_history_does_not_depend_on_its_end(history: tuple[Message, ...]) -> None:
    """Prefixes keep their place: a prompt that was cached stays cached, unless a late result turns up."""
    for length in range(len(history)):
        late = {result.call_id for message in history[length:] for result in message.results}
        first = pairing.repair(history[:length])
        if not any(block.call_id in late for message in first for block in message.results):
            assert pairing.repair(history)[: len(first)] == first


@given(hurt_histories())
def test_a_repair_drops_only_strays_second_results_and_blanks(history: tuple[Message, ...]) -> None:
    repaired = pairing.repair(history)
    assert contents(repaired) == contents(history)
    kept = [message.id for message in repaired if message.role != "tool" and message.text]
    given_ids = [message.id for message in history if message.role != "tool" and message.text.strip()]
    assert kept == given_ids
    asked: set[str] = set()
    real: dict[str, ToolResult] = {}
    for message in history:
        asked.update(call.id for call in message.calls)
        for result in message.results:
            if result.call_id in asked and result.status in ("ok", "error"):
                real.setdefault(result.call_id, result)
    found = {result.call_id: result for message in repaired for result in message.results}
    assert found.keys() == {call.id for message in history for call in message.calls}
    assert {call_id: found[call_id] for call_id in real} == real


def contents(messages: Iterable[Message]) -> Counter[str]:
    """All that was said, shown and asked for, without results."""
    blocks = [block for message in messages for block in message.blocks if not isinstance(block, ToolResult)]
    return Counter(repr(block) for block in blocks if not isinstance(block, Text) or block.text.strip())


@given(wild_histories(), st.booleans())
def test_the_short_way_and_the_long_way_agree(history: tuple[Message, ...], open_end: bool) -> None:
    healed = pairing.heal(history, open_end=open_end).messages
    assert healed == woven(history, open_end=open_end)
    assert pairing.is_paired(history, open_end=open_end) <= (healed == history)
    for length in range(len(healed)):
        if pairing.is_paired(healed[:length], open_end=True):
            following = healed[length]
            assert pairing.fits(healed[:length], following) <= (
                pairing.heal(healed[: length + 1], open_end=True).messages == healed[: length + 1]
            )
