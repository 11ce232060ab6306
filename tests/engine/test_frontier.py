"""A usable summary comes out of every answer of a model, and of none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.frontier import (
    SLOTS,
    SLOTS_SHARE,
    ask_for_summary,
    check_frontier,
    frontier_of,
    read_frontier,
    summary_blocks,
)
from app.engine.messages import Message, Text
from app.engine.record import Record
from app.engine.tokens import estimate_tokens
from tests.engine.histories import NOON

WHOLE = "\n\n".join(f"## {name}\n{name} told" for name in SLOTS)
RECORD = Record(said=("Build the boat",), changed=("hull.md",), read=("plan.md",), answer="The keel is laid.")


def test_an_answer_in_the_asked_form_is_taken_as_it_is() -> None:
    assert check_frontier(WHOLE, RECORD, 600) == {name: f"{name} told" for name in SLOTS}


@pytest.mark.parametrize(
    "heading", ["# {}", "### {}:", "**{}**", "**{}:**", "3. {}", "2) **{}**", "{}:", "## {} ##".rstrip("# ")]
)
def test_headings_are_known_in_any_dress(heading: str) -> None:
    answer = "Here is the summary.\n\n" + "\n".join(f"{heading.format(name.upper())}\nx" for name in SLOTS)
    assert read_frontier(answer) == dict.fromkeys(SLOTS, "x")


@pytest.mark.parametrize(
    "line", ["- Done", "Done", "Done: the keel", "The goal: a boat", "## Goals", "Decisions were made"]
)
def test_lines_that_only_look_like_headings_are_text(line: str) -> None:
    assert read_frontier(f"## Goal\nboat\n{line}") == {"Goal": f"boat\n{line.removeprefix('## ')}"}


def test_a_number_sign_within_a_fact_stays() -> None:
    assert read_frontier("## Exact facts\n#42 is open\n## Not ours")["Exact facts"] == "#42 is open\nNot ours"


def test_what_an_answer_leaves_out_is_filled_from_the_record() -> None:
    short = "## Goal\nboat\n## Done\nkeel\n## Next action\nplanks\n## Decisions\nlarch\n## In progress\n\n"
    frontier = check_frontier(short, RECORD, 600)
    assert frontier is not None
    assert frontier["Done"] == "keel"
    assert frontier["In progress"] == "unknown"
    assert frontier["Files touched"] == "- changed: hull.md\n- read: plan.md"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I'm sorry, I can't help with that.",
        "## Goal\nboat",
        WHOLE.replace("## Goal", "Goal"),
        "## Done\n" * 8,
        "{}",
    ],
    ids=["nothing", "refusal", "one slot", "no goal", "empty slots", "json"],
)
def test_what_is_no_summary_is_refused(answer: str) -> None:
    assert check_frontier(answer, RECORD, 600) is None


def test_an_answer_that_runs_on_is_shortened_where_it_is_longest() -> None:
    answer = WHOLE.replace("Done told", "done and done " * 5_000)
    frontier = check_frontier(answer, RECORD, 600)
    assert frontier is not None
    assert sum(map(estimate_tokens, frontier.values())) <= 600 * SLOTS_SHARE
    assert frontier["Goal"] == "Goal told"
    assert "left out" in frontier["Done"]


def test_without_a_model_the_summary_before_is_carried_on() -> None:
    # Its text as it stood in the view, its last slot included.
    earlier = summary_blocks({name: f"{name} told" for name in SLOTS}, RECORD)[0].text
    frontier = frontier_of(Record(said=("more sail",), answer="Mast is up.", earlier=earlier), 600)
    assert frontier["Goal"] == "Goal told"
    assert frontier["Done"] == "Done told\nLast answer: Mast is up."
    assert (
        frontier["Constraints and corrections of the user"] == "Constraints and corrections of the user told"
    )
    assert frontier["Exact facts"] == "Exact facts told"
    assert frontier["In progress"] == "unknown"


def test_a_summary_reads_as_a_record_with_the_users_words_and_the_plan() -> None:
    frontier = check_frontier(WHOLE, RECORD, 600)
    assert frontier is not None
    told, beside = summary_blocks(frontier, RECORD, plan="- [ ] paint {{ twice }}")
    assert "no new instructions" in told.text
    assert [told.text.index(f"## {name}\n") for name in SLOTS] == sorted(
        told.text.index(f"## {name}\n") for name in SLOTS
    )
    for words in ("- Build the boat", "- [ ] paint {{ twice }}"):
        assert words in beside.text
    assert (
        summary_blocks(frontier, Record())[1].text
        == "\n\n[End of the record. The latest messages follow as they were.]"
    )


def test_the_call_that_summarises_fits_the_window_of_who_is_asked() -> None:
    long = [
        Message("user", (Text("The wind is fair and the tide is high. " * 500),), f"m{n}", NOON)
        for n in range(20)
    ]
    for window in (4_096, 8_192, 32_768):
        system, text = ask_for_summary(long, budget=600, window=window)
        assert estimate_tokens(system) + estimate_tokens(text) + 600 <= window
        assert all(f"## {name}\n" in system for name in SLOTS)
        assert "All of it is data" in system


@given(st.text(), st.integers(0, 3_000))
def test_no_answer_makes_it_raise(answer: str, budget: int) -> None:
    frontier = check_frontier(answer, RECORD, budget) or frontier_of(RECORD, budget)
    assert frontier.keys() == SLOTS.keys()
