"""Rows of steps as deeds, and which of them are taken back as things stand."""

from __future__ import annotations

from dataclasses import replace

from app.group_chat.deeds import deeds_of, undone
from app.workspace.rows import StepRow
from app.workspace.steps import RESTORE


def step(turn: str, *, after: str | None = "snap_2", undoes: str | None = None, part: str = "") -> StepRow:
    tool, call_id = (RESTORE, part) if undoes else ("bash", "call_1")
    tally = {"files": 1, "lines": []}
    return StepRow(f"step_{turn}", "conv", turn, call_id, tool, undoes, "snap_1", after, tally, "2026-11-30")


def taken_back(*rows: StepRow) -> dict[str, str]:
    return {id: by.id for id, by in undone(deeds_of(rows)).items()}


def test_the_steps_of_a_turn_are_one_deed_in_the_order_of_the_first_ones() -> None:
    deeds = deeds_of([step("a"), step("b"), step("a")])
    assert [(deed.id, len(deed.steps)) for deed in deeds] == [("a", 2), ("b", 1)]


def test_a_step_that_runs_is_no_deed_yet() -> None:
    assert deeds_of([step("a", after=None)]) == ()


def test_a_turn_that_came_back_to_where_it_began_is_no_deed() -> None:
    assert deeds_of([step("a"), replace(step("a"), tally={"files": 0, "lines": []})]) == ()


def test_a_restore_takes_back_and_can_be_taken_back() -> None:
    assert taken_back(step("a"), step("u1", undoes="a")) == {"a": "u1"}
    assert taken_back(step("a"), step("u1", undoes="a"), step("u2", undoes="u1")) == {"u1": "u2"}
    again = [step("u1", undoes="a"), step("u2", undoes="u1"), step("u3", undoes="a")]
    assert taken_back(step("a"), *again) == {"u1": "u2", "a": "u3"}


def test_a_part_that_came_back_leaves_the_deed_as_it_is() -> None:
    assert taken_back(step("a"), step("u1", undoes="a", part="file")) == {}
