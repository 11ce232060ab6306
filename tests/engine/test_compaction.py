"""When a history is compacted, where it is cut, and what stays word for word."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.compaction import (
    Compact,
    Decision,
    Nothing,
    Past,
    Skip,
    Stop,
    TooSmall,
    decide,
    is_due,
    list_cuts,
    summary_budget,
)
from app.engine.frontier import check_frontier, frontier_of, summary_blocks
from app.engine.messages import Block, Image, Message, Summary, Text, ToolCall, ToolResult
from app.engine.pairing import is_paired, repair
from app.engine.record import take_record
from app.engine.tokens import estimate_message
from app.engine.view import View, before_tail, summary_message, view
from tests.case_tables import load_jsonl
from tests.engine.histories import NOON, hurt_histories, wild_histories

ROWS = load_jsonl("compaction_cuts.jsonl")


def read_rows(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "generate" not in row:
        yield from row["messages"]
        return
    for role, tokens in row["generate"]["head"]:
        yield {"role": role, "tokens": tokens}
    for number in range(row["generate"]["steps"]):
        for role, tokens, call in row["generate"]["step"]:
            ids = [call.format(i=number)]
            yield {"role": role, "tokens": tokens, "calls" if role == "assistant" else "results": ids}


def read_message(row: dict[str, Any], number: int) -> Message:
    if row.get("image_of_step"):
        blocks: tuple[Block, ...] = (Image("img"),)
    elif row["role"] == "tool":
        blocks = tuple(ToolResult(call_id, "…") for call_id in row["results"])
    else:
        calls = (ToolCall(call_id, "read_file", {"path": f"f{number}"}) for call_id in row.get("calls", ()))
        blocks = (Text(row.get("text", f"words {number}")), *calls)
    summary = Summary(None) if row.get("summary") else None
    return Message(row["role"], blocks, f"m{number}", NOON, summary=summary)


def read_table(row: dict[str, Any]) -> tuple[tuple[Message, ...], list[int]]:
    rows = list(read_rows(row))
    return tuple(read_message(one, number) for number, one in enumerate(rows)), [
        one["tokens"] for one in rows
    ]


def decide_row(row: dict[str, Any]) -> Decision:
    messages, sizes = read_table(row)
    past = [Past(one["before"], one["after"]) for one in row.get("history", ())]
    return decide(messages, sizes, window=row["window"], fixed=row["fixed"], past=past)


def compacted(
    history: tuple[Message, ...], decision: Compact, answer: str = "", plan: str = ""
) -> tuple[Message, ...]:
    """The history with the summary at its end, as a run would store it."""
    seen = view(history)
    again = {seen.messages[place].id for place in decision.resend}
    record = take_record(before_tail(history, seen, decision.cut), 600, leave_out=again)
    frontier = check_frontier(answer, record, 600) or frontier_of(record, 600)
    blocks = summary_blocks(frontier, record, plan=plan)
    return (*history, summary_message(seen, decision, blocks, id=f"s{len(history)}", time=NOON))


table = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])


@table
def test_the_decision_is_that_of_the_table(row: dict[str, Any]) -> None:
    assert decide_row(row).kind == row["decision"]


@table
def test_the_cuts_are_those_of_the_table(row: dict[str, Any]) -> None:
    messages, sizes = read_table(row)
    cuts = list_cuts(messages)
    assert row["fixed"] + sum(sizes) == row["total"]
    if "allowed" in row:
        assert cuts == row["allowed"]
        assert not set(cuts) & set(row["forbidden"])
    else:
        assert row["allowed_rule"] == "every odd k in 1..397"
        assert cuts == list(range(1, 398, 2))
    if "min_kept" in row:
        assert row["fixed"] + sum(sizes[cuts[-1] :]) >= row["min_kept"]


@table
def test_what_the_table_wants_word_for_word_is_in_the_next_request(row: dict[str, Any]) -> None:
    messages, _ = read_table(row)
    decision = decide_row(row)
    if not isinstance(decision, Compact):
        return
    plan = "\n".join(row.get("open_plan", ()))
    seen = view(compacted(messages, decision, plan=plan))
    assert seen.messages[-(len(messages) - decision.cut) :] == messages[decision.cut :]
    assert all(messages[place] in seen.messages for place in row.get("resend", ()))
    # Facts of the host stand in the system prompt, which no compaction touches.
    told = "\n".join(message.text for message in seen.messages)
    for words in (*row.get("verbatim", ()), *row.get("open_plan", ())):
        assert words in told


def test_a_step_and_its_pictures_are_not_parted() -> None:
    messages = (
        Message("user", (Text("look"),), "u", NOON),
        Message("assistant", (ToolCall("c1", "view"), ToolCall("c2", "view")), "a", NOON),
        Message("tool", (ToolResult("c1", "seen"),), "t1", NOON),
        Message("tool", (ToolResult("c2", "seen"),), "t2", NOON),
        Message("user", (Image("img1"), Image("img2")), "p", NOON),
        Message("user", (Image("img3"),), "own", NOON),
        Message("user", (Text("and?"), Image("img4")), "u2", NOON),
    )
    assert list_cuts(messages) == [1, 5, 6]


def test_an_overflow_compacts_whatever_our_estimate_is() -> None:
    messages, sizes = read_table(
        {"messages": [{"role": "user", "tokens": 300}, {"role": "assistant", "tokens": 900}] * 9}
    )
    assert decide(messages, sizes, window=32_000, fixed=500) == Nothing()
    assert isinstance(decide(messages, sizes, window=32_000, fixed=500, overflowed=True), Compact)


def test_an_overflow_that_no_summary_can_cure_stops_with_the_choices() -> None:
    row = next(row for row in ROWS if row["id"] == "only_one_step")
    messages, sizes = read_table(row)
    stop = decide(messages, sizes, window=row["window"], fixed=row["fixed"], overflowed=True)
    assert isinstance(stop, Stop)
    for choice in ("larger window", "new conversation"):
        assert choice in stop.sentence


def test_the_errors_say_what_to_do() -> None:
    stop = decide_row(next(row for row in ROWS if row["id"] == "third_in_a_row"))
    assert isinstance(stop, Stop)
    assert "64,000" in stop.sentence
    assert "larger window" in stop.sentence
    small = decide_row(next(row for row in ROWS if row["id"] == "fixed_over_window"))
    assert isinstance(small, TooSmall)
    assert "8,192" in small.sentence
    assert "12,000" in small.sentence


def test_a_message_of_the_user_that_fills_the_window_is_not_worth_a_summary() -> None:
    messages, sizes = read_table(
        {
            "messages": [
                {"role": "user", "tokens": 26_000},
                {"role": "assistant", "tokens": 60, "calls": ["c"]},
                {"role": "tool", "tokens": 900, "results": ["c"]},
                {"role": "assistant", "tokens": 60, "calls": ["d"]},
                {"role": "tool", "tokens": 900, "results": ["d"]},
            ]
        }
    )
    assert isinstance(decide(messages, sizes, window=32_000, fixed=500), Skip)


def test_of_a_long_turn_the_request_and_the_last_words_are_sent_again() -> None:
    step = [
        {"role": "assistant", "tokens": 60, "calls": ["c"]},
        {"role": "tool", "tokens": 2_000, "results": ["c"]},
    ]
    rows = [{"role": "user", "tokens": 700}]
    for _ in range(20):
        rows += [*step, {"role": "user", "tokens": 400}]
    rows += [*step]
    messages, sizes = read_table({"messages": rows})
    decision = decide(messages, sizes, window=64_000, fixed=500)
    assert isinstance(decision, Compact)
    said = [place for place, row in enumerate(rows) if row["role"] == "user" and place < decision.cut]
    assert decision.resend[0] == 0
    assert decision.resend[1:] == tuple(said[-len(decision.resend) + 1 :])
    assert sum(sizes[place] for place in decision.resend) <= 0.1 * 64_000 + 400


@pytest.mark.parametrize("window", [4_096, 8_192, 32_768, 128_000, 200_000, 1_000_000])
def test_a_summary_is_small_beside_its_window(window: int) -> None:
    assert summary_budget(window) <= 0.15 * window
    assert is_due(ceil(window * 0.8), window)
    assert not is_due(round(window * 0.79), window)


histories = st.one_of(hurt_histories(), wild_histories()).map(repair)


@given(histories, st.data())
def test_no_cut_parts_a_call_from_its_result(history: tuple[Message, ...], data: st.DataObject) -> None:
    for cut in list_cuts(history):
        assert is_paired(history[:cut])
        assert is_paired(history[cut:])


@given(histories, st.integers(1, 3), st.lists(st.integers(1, 30_000), min_size=40, max_size=40))
def test_any_history_can_be_compacted_again_and_again(
    history: tuple[Message, ...], rounds: int, weights: list[int]
) -> None:
    for number in range(rounds):
        seen = view(history)
        sizes = [weights[place % 40] for place in range(len(seen.messages))]
        decision = decide(seen.messages, sizes, window=max(sum(sizes), 8_000), fixed=500, overflowed=True)
        if isinstance(decision, Compact):
            history = compacted(history, decision)
            assert_compacted(view(history), seen, decision, history[-1])
        history = (*history, Message("user", (Text(f"go on {number}"),), f"u{number}", NOON))


def assert_compacted(after: View, before: View, decision: Compact, summary: Message) -> None:
    assert is_paired(after.messages)
    assert after.messages[0] is summary
    assert len(after.messages) <= len(before.messages) + 1
    tail = before.messages[decision.cut :]
    assert after.messages[-len(tail) :] == tail
    for place in decision.resend:
        assert before.messages[place] in after.messages
    assert len({id(message) for message in after.messages}) == len(after.messages)
    assert estimate_message(summary) <= 700
