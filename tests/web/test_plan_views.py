"""The board of a plan: how each step stands, what it took, and what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.group_chat.plan_records import KeptPlan
from app.web.plan_views import Traces, board_view
from app.workspace.rows import TaskRow, TurnRow
from app.workspace.usage import UsageSum
from tests.web.samples import TIME, board, kept_plan

LATER = "2026-11-30T12:01:05.000Z"


def task(step: int, attempt: int = 1, state: Any = "done", turn: str | None = "turn_1") -> TaskRow:
    call = f"{step}.{attempt}"
    return TaskRow(
        f"task_{call}",
        "conv_1",
        1,
        "plan",
        "commander",
        "coder",
        "",
        "plan_1",
        call,
        turn,
        state,
        None,
        TIME,
        None,
    )


def turn(id: str, task: str, ended: str | None = LATER) -> TurnRow:
    return TurnRow(id, "conv_1", 1, "coder", "s", "t", "completed", None, None, None, TIME, ended, task)


def spent(cost: float, unknown: int = 0) -> UsageSum:
    return UsageSum("", 1, 1, 1, 0, 0, cost, unknown, 0)


def test_each_step_says_how_it_stands_and_what_can_be_done() -> None:
    steps = board().steps
    assert [(step.standing.word, step.can_retry, step.can_skip, step.form is not None) for step in steps] == [
        ("done", False, False, False),
        ("in progress", False, False, False),
        ("failed", True, True, False),
        ("needs you", False, True, False),
        ("pending", False, True, True),
        ("skipped", False, False, False),
    ]
    assert [step.said for step in steps] == ["Two.", "", "No <b>net</b>.", "", "", "You skipped it."]
    assert steps[3].answer == "#form_4"
    assert (steps[1].tries, steps[4].if_it_fails, steps[5].if_it_fails) == (
        2,
        "go on without it",
        "end the plan",
    )


def test_time_and_cost_are_those_of_all_turns_of_a_step_once_it_has_ended() -> None:
    traces = Traces(
        [task(1, 1, turn="turn_1"), task(1, 2, turn="turn_2"), task(2, 2, "running", "turn_3")],
        [turn("turn_1", "task_1.1"), turn("turn_2", "task_1.2"), turn("turn_3", "task_2.2", None)],
        {"turn_1": spent(0.25), "turn_2": spent(0.5), "turn_3": spent(1.0)},
    )
    first, second, *_ = board_view(kept_plan(), traces).steps
    assert (first.seconds, first.cost, first.changes) == (130, 0.75, "/conversations/conv_1/changes/turn_2")
    assert (second.seconds, second.cost, second.since is not None) == (None, None, True)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("queued", "waits for its member"),
        ("interrupted", "cut off"),
        ("waiting_for_approval", "needs you"),
        ("running", "in progress"),
    ],
)
def test_a_step_in_progress_says_more_exactly_how_its_work_stands(state: str, word: str) -> None:
    assert board_view(kept_plan(), Traces([task(2, 2, state)])).steps[1].standing.word == word


def as_it_is(**row: Any) -> KeptPlan:
    kept = kept_plan()
    return KeptPlan(replace(kept.row, **row), replace(kept.plan, stopped=row.get("state") == "stopped"))


@pytest.mark.parametrize(
    ("row", "go_on", "can_stop"),
    [
        ({"state": "running"}, "", True),
        ({"state": "stopped", "begun": None}, "Start the plan", False),
        ({"state": "stopped"}, "Continue", False),
        ({"state": "done", "ended": TIME}, "", False),
        ({"state": "aborted", "ended": TIME}, "", False),
    ],
)
def test_a_plan_is_started_stopped_or_continued_as_it_stands(
    row: dict[str, Any], go_on: str, can_stop: bool
) -> None:
    view = board_view(as_it_is(**row), Traces())
    assert (view.go_on, view.can_stop) == (go_on, can_stop)


def test_what_a_crash_cut_off_is_continued() -> None:
    view = board_view(as_it_is(state="running"), Traces([task(2, 2, "interrupted")]))
    assert (view.go_on, view.standing.word) == ("Continue", "cut off")


def test_a_step_can_be_given_to_the_team_to_commander_and_to_the_user() -> None:
    form = board().steps[4].form
    assert form is not None
    assert [(each.value, each.chosen) for each in form.assignees] == [
        ("coder", False),
        ("writer", False),
        ("commander", True),
        ("user", False),
    ]
    assert (form.after, [each.value for each in form.on_failure if each.chosen]) == ("2, 3", ["continue"])


def test_a_plan_says_what_is_done_how_long_it_goes_on_and_what_it_has_cost_so_far() -> None:
    traces = Traces(
        [task(1), task(2, 2, "running", "turn_3")],
        [turn("turn_1", "task_1.1"), turn("turn_3", "task_2.2", None)],
        {"turn_1": spent(0.25), "turn_3": spent(1.0)},
    )
    view = board_view(as_it_is(state="running"), traces)
    assert (view.done, view.skipped, view.cost) == (1, 1, 0.25)
    assert (view.since is not None, view.seconds) == (True, None)
    assert [each.value for each in view.parallel] == ["1", "2", "3", "4", "5", "6"]
    over = board_view(as_it_is(state="done", ended=LATER), traces)
    assert (over.since, over.seconds, over.parallel) == (None, 65, ())
    assert board_view(as_it_is(state="stopped"), traces).since is None
