"""Plans under everything that can happen to them: no step is done twice, none too early, and each comes to its end.

Each seed is one life, as in ``test_team_simulation``: ``--rooms`` says how many, ``--room 17`` lives that one.
"""

from __future__ import annotations

from collections import Counter

import pytest

from app.group_chat.plan_tasks import PlanTask
from app.group_chat.plan_values import Status
from app.workspace.rows import TaskRow
from tests.group_chat.plan_world import AtOnce, PlanWorld
from tests.group_chat.team_world import live
from tests.group_chat.test_plan_steps import ARROWS


def test_a_plan_keeps_its_promises_through_any_life(request: pytest.FixtureRequest) -> None:
    live(request, PlanWorld, look, look_back)


def look(world: PlanWorld) -> None:
    """What is true at any moment."""
    _every_attempt_is_begun_once(world)
    _steps_are_in_order(world)
    _whoever_works_for_a_plan_works_on_a_step(world)
    _a_plan_that_stands_still_says_why(world)
    world.follow()
    assert all(after in _reachable(before) for _, before, after in world.arrows), world.arrows


def look_back(world: PlanWorld) -> None:
    """What is true at the end."""
    look(world)
    kept = world.kept
    assert kept is not None
    assert kept.row.state == "done"
    assert all(step.is_over for step in kept.plan.steps)


def _reachable(status: Status) -> set[Status]:
    """By one thing that happens: what begins anew does so at once."""
    straight = ARROWS[status]
    return straight | ARROWS["pending"] if "pending" in straight else straight


def _every_attempt_is_begun_once(world: PlanWorld) -> None:
    begun = Counter((task.given, task.call_id) for task in _work(world))
    assert all(count == 1 for count in begun.values()), begun
    told = Counter(
        (row.data["plan"], row.data["task"]) for row in world.seen.rows if row.data.get("how") == "plan"
    )
    assert all(count == 1 for count in told.values()), told


def _steps_are_in_order(world: PlanWorld) -> None:
    if (kept := world.kept) is None:
        return
    plan = kept.plan
    for step in plan.having("in_progress", "blocked", "done"):
        assert all(plan.steps[before - 1].is_over for before in step.wait_for), step


def _whoever_works_for_a_plan_works_on_a_step(world: PlanWorld) -> None:
    if (kept := world.kept) is None or kept.plan.stopped:
        return
    for task in _work(world):
        if task.given == kept.id and task.is_open and world.at.room.at_work:
            step = kept.plan.steps[PlanTask.of(task).step - 1]
            assert step.status in ("in_progress", "blocked", "skipped", "failed"), (step, task)


def _a_plan_that_stands_still_says_why(world: PlanWorld) -> None:
    """Nobody is at work: then it waits for somebody, was stopped or cut off, or is over."""
    kept = world.kept
    if kept is None or world.at.room.at_work or not kept.is_begun:
        return
    cut_off = any(task.state == "interrupted" for task in world.seen.tasks if task.given == kept.id)
    assert kept.row.state != "running" or cut_off, [step.status for step in kept.plan.steps]
    waits = {row.id for row in world.seen.rows if row.kind == "form" and row.state == "streaming"}
    assert kept.row.state != "waiting_for_user" or waits or cut_off


def _work(world: PlanWorld) -> list[TaskRow]:
    return [task for task in world.seen.tasks if task.kind == "plan" and not PlanTask.of(task).is_question]


def test_two_ends_at_the_same_instant_begin_what_waits_for_both_once(request: pytest.FixtureRequest) -> None:
    live(request, AtOnce, look, came_once)


def came_once(world: AtOnce) -> None:
    look_back(world)
    ends = [time for who, time in world.minds.ended if who in ("writer", "tutor")]
    assert max(Counter(ends).values()) == 2, "they did not end at the same instant"
    assert [task.call_id for task in _work(world)] == ["1.1", "2.1", "3.1", "4.1"]
