"""What a plan as a whole is at, by its steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import get_args

import pytest

from app.group_chat.plan_values import OnFailure, Plan, PlanState, Status, Step


def plan(*statuses: Status, on_failure: OnFailure = "ask_commander", stopped: bool = False) -> Plan:
    steps = [
        Step(index, "x", "coder", "", on_failure=on_failure, status=status)
        for index, status in enumerate(statuses, 1)
    ]
    return Plan(tuple(steps), stopped=stopped)


@pytest.mark.parametrize(
    ("statuses", "state"),
    [
        (("done", "skipped"), "done"),
        (("done", "in_progress"), "running"),
        (("done", "pending"), "running"),
        (("failed", "in_progress"), "running"),
        (("blocked", "pending"), "waiting_for_user"),
        (("blocked", "failed"), "waiting_for_user"),
        (("failed", "pending"), "waiting_for_commander"),
        (("done", "failed"), "waiting_for_commander"),
    ],
)
def test_the_state_of_a_plan_is_that_of_its_steps(statuses: tuple[Status, ...], state: PlanState) -> None:
    assert plan(*statuses).state == state
    assert plan(*reversed(statuses)).state == state


def test_a_failure_that_ends_the_plan_aborts_it_once_all_is_quiet() -> None:
    assert plan("failed", "skipped", on_failure="abort_plan").state == "aborted"
    assert plan("failed", "in_progress", on_failure="abort_plan").state == "running"
    assert plan("done", "skipped", on_failure="abort_plan").state == "done"


def test_a_stop_shows_unless_all_is_done() -> None:
    assert plan("failed", "pending", stopped=True).state == "stopped"
    assert plan("done", "skipped", stopped=True).state == "done"


def test_no_plan_at_rest_seems_to_run() -> None:
    for statuses in combinations_with_replacement(get_args(Status), 3):
        runs = plan(*statuses).state == "running"
        may_begin = "pending" in statuses and not {"blocked", "failed"} & set(statuses)
        assert runs == ("in_progress" in statuses or may_begin)


@pytest.mark.parametrize("index", [-1, 0, 3])
def test_a_step_that_is_not_there_is_not_found(index: int) -> None:
    assert plan("done", "pending").find(index) is None


def test_a_step_takes_the_place_of_the_one_of_its_index() -> None:
    before = plan("pending", "pending", "pending")
    for step in before.steps:
        changed = before.with_step(replace(step, title="y"))
        assert [one.title for one in changed.steps].index("y") == step.index - 1
        assert len(changed.steps) == 3
