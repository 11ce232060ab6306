"""A plan goes its way by what really happened, each step once, until it ends or says what it waits for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.plan_check import PlanRefused, check_plan
from app.group_chat.plan_steps import (
    MOST_REQUEUES,
    Answered,
    Asked,
    Failed,
    Finished,
    Looked,
    PlanEvent,
    Retried,
    Skipped,
    Stopped,
    WentOn,
    advance,
)
from app.group_chat.plan_values import Plan, Status
from app.group_chat.visibility import Request, carry
from tests.case_tables import load_jsonl
from tests.group_chat.plan_days import Days, in_short

ROWS = [row for row in load_jsonl("plan_cases.jsonl") if "refused" not in row["expect"]]
MEMBERS = ("coder", "writer")

ARROWS: dict[Status, set[Status]] = {
    "pending": {"in_progress", "blocked", "skipped"},
    "in_progress": {"done", "failed", "skipped", "blocked", "pending"},
    "blocked": {"done", "in_progress", "skipped", "pending"},
    "failed": {"pending", "skipped"},
    "skipped": {"pending"},
    "done": set(),
}


def plan_of(*steps: dict[str, Any], parallel: int = 1, request: Request = Request("go")) -> Plan:  # noqa: B008
    numbered = [
        {"index": index, "title": f"Step {index}", "assignee": "coder"} | step
        for index, step in enumerate(steps, 1)
    ]
    plan = check_plan(numbered, MEMBERS, request, parallel)
    assert isinstance(plan, Plan), plan
    return plan


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_plan_goes_as_the_table_says(row: dict[str, Any]) -> None:
    request = Request(row.get("user_message", "go"), tuple(row.get("attachments", ())))
    plan = check_plan(row["steps"], row["members"], request, row["parallel"])
    assert not isinstance(plan, PlanRefused), plan.sentence
    days = Days(plan, row.get("script", {}), row["members"])
    days.live(row.get("acts", ()))
    expect = row["expect"]
    assert [in_short(effect) for effect in days.seen] == expect["events"]
    final = {str(step.index): step.status for step in days.plan.steps}
    assert {index: final[index] for index in expect["final"]} == expect["final"]
    begun = Counter(str(effect.step) for effect in days.seen if effect.kind in ("dispatch", "wake"))
    assert begun == expect["dispatches"]
    assert days.plan.state == expect["plan"]
    inputs = {
        str(effect.step): effect.text for effect in days.seen if effect.kind in ("dispatch", "wake", "form")
    }
    for index, text in expect.get("inputs", {}).items():
        assert all(part in inputs[index] for part in text.get("has", ()))
        assert not any(part in inputs[index] for part in text.get("not", ()))
    for effect in days.seen:
        if effect.kind in ("dispatch", "wake"):
            carried = carry([days.plan.request], Request(effect.text))
            assert all(
                one in (*carried.attachments, *carried.text.splitlines()) for one in expect.get("travels", ())
            )
    if "chat_dispatches" in expect:
        chat = [(plan.steps[one.step - 1].assignee, one.text) for one in days.seen if one.kind == "dispatch"]
        assert [to for to, _ in chat] == [one["to"] for one in expect["chat_dispatches"]]
        assert all(one["has"] in text for one, (_, text) in zip(expect["chat_dispatches"], chat, strict=True))


def after(plan: Plan, *events: PlanEvent) -> tuple[Plan, list[list[object]]]:
    seen: list[list[object]] = []
    for event in (Looked(), *events):
        plan, effects = advance(plan, event)
        seen += map(in_short, effects)
    return plan, seen


def test_an_end_of_an_earlier_attempt_is_not_that_of_this_one() -> None:
    plan, _ = after(plan_of({}), Failed(1, 1, "dropped", transient=True), Finished(1, 1, "late"))
    assert (plan.steps[0].status, plan.steps[0].attempt) == ("in_progress", 2)


def test_a_retry_of_what_aborted_a_plan_takes_up_what_was_skipped_for_it_and_nothing_else() -> None:
    plan = plan_of({}, {"on_failure": "abort_plan"}, {}, {})
    plan, _ = after(plan, Skipped(4), Finished(1, 1, "ok"), Failed(2, 1, "broken"))
    assert plan.state == "aborted"
    plan, seen = after(plan, Retried(2), Finished(2, 2, "ok"), Finished(3, 1, "ok"))
    assert seen == [["dispatch", 2], ["end", 2, "done"], ["dispatch", 3], ["end", 3, "done"]]
    assert plan.state == "done"
    assert plan.steps[3].failure_reason == "You skipped it."


def test_a_step_that_runs_beside_one_that_aborts_the_plan_ends_and_nothing_begins() -> None:
    plan = plan_of(
        {"wait_for": [], "on_failure": "abort_plan"}, {"wait_for": []}, {"wait_for": []}, parallel=2
    )
    plan, seen = after(plan, Failed(1, 1, "broken"), Finished(2, 1, "ok"))
    assert seen == [["dispatch", 1], ["dispatch", 2], ["end", 1, "failed"], ["skip", 3], ["end", 2, "done"]]
    assert plan.state == "aborted"


@pytest.mark.parametrize("event", [Asked(2, 1, "Which?"), Failed(2, 1, "dropped", transient=True)])
def test_a_step_beside_an_abort_that_cannot_end_is_skipped_and_asks_nobody(event: PlanEvent) -> None:
    plan = plan_of({"wait_for": [], "on_failure": "abort_plan"}, {"wait_for": []}, parallel=2)
    plan, seen = after(plan, Failed(1, 1, "broken"), event)
    assert seen[-1] == ["skip", 2]
    assert ["form", 2] not in seen
    assert plan.state == "aborted"


def test_a_failed_step_that_the_user_skips_lets_the_others_go_on() -> None:
    plan, seen = after(plan_of({}, {}), Failed(1, 1, "broken"), Skipped(1), Finished(2, 1, "ok"))
    assert seen[-3:] == [["skip", 1], ["dispatch", 2], ["end", 2, "done"]]
    assert plan.state == "done"


def test_a_stopped_plan_begins_again_where_it_was_and_only_when_it_is_told_to() -> None:
    plan, seen = after(
        plan_of({}, {"assignee": "user"}), Finished(1, 1, "ok"), Stopped(), Answered(2, "late")
    )
    assert (plan.state, plan.steps[1].status) == ("stopped", "pending")
    plan, seen = after(plan, WentOn(), Answered(2, "blue"))
    assert seen == [["form", 2], ["end", 2, "done"]]
    assert plan.steps[1].output_summary == "blue"


def test_a_retry_of_a_stopped_plan_goes_on_and_forgives_as_often_as_before() -> None:
    drops = [Failed(1, attempt, "dropped", transient=True) for attempt in range(1, MOST_REQUEUES + 2)]
    plan, _ = after(plan_of({}, {}), *drops)
    assert plan.state == "waiting_for_commander"
    plan, seen = after(plan, Stopped(), Retried(1), Failed(1, MOST_REQUEUES + 2, "dropped", transient=True))
    assert seen == [["dispatch", 1], ["requeue", 1], ["dispatch", 1]]


def test_a_run_that_was_stopped_says_nothing_any_more() -> None:
    plan, seen = after(plan_of({}), Stopped(), Finished(1, 1, "late"), Failed(1, 1, "stopped"))
    assert seen == [["dispatch", 1]]
    assert plan.steps[0].status == "pending"


@pytest.mark.parametrize(
    "event",
    [
        Skipped(1),
        Retried(1),
        Answered(1, "x"),
        Retried(9),
        Skipped(0),
        Finished(-1, 1, "x"),
        Finished(2, 1, "x"),
    ],
)
def test_what_does_not_fit_the_state_of_its_step_changes_nothing(event: PlanEvent) -> None:
    running, _ = after(plan_of({}, {}))
    assert advance(running, event) == (running, ())


def test_a_plan_that_waits_for_the_user_begins_nothing_though_more_could_run() -> None:
    plan = plan_of({"assignee": "user", "wait_for": []}, {"wait_for": []}, parallel=4)
    plan, seen = after(plan)
    assert seen == [["form", 1]]
    _, seen = after(plan, Answered(1, "go"))
    assert seen == [["end", 1, "done"], ["dispatch", 2]]


STEP = st.fixed_dictionaries(
    {
        "assignee": st.sampled_from([*MEMBERS, "user", "commander"]),
        "on_failure": st.sampled_from(["abort_plan", "continue", "ask_commander"]),
    }
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    steps = draw(st.lists(STEP, min_size=1, max_size=7))
    for index, step in enumerate(steps, 1):
        step["wait_for"] = (
            draw(st.lists(st.integers(1, max(1, index - 1)), unique=True, max_size=3)) if index > 1 else []
        )
    return plan_of(*steps, parallel=draw(st.integers(1, 4)))


def reports(data: st.DataObject, plan: Plan, step: int, attempt: int) -> PlanEvent:
    return data.draw(
        st.sampled_from(
            [
                Finished(step, attempt, "ok", ("a.md",)),
                Failed(step, attempt, "broken"),
                Failed(step, attempt, "dropped", transient=True),
                Asked(step, attempt, "Which?"),
            ]
        )
    )


def check_step_by_step(before: Plan, event: PlanEvent) -> Plan:
    plan, effects = advance(before, event)
    for old, new in zip(before.steps, plan.steps, strict=True):
        statuses = [old.status, new.status]
        # A requeued step may begin again, and a revived one be skipped again, in the same breath.
        middle = {status for status in ARROWS[old.status] if new.status in ARROWS[status]}
        assert old.status == new.status or new.status in ARROWS[old.status] or middle, statuses
        assert new.attempt - old.attempt in (0, 1)
        if new.attempt > old.attempt:
            assert all(plan.steps[other - 1].is_over for other in new.wait_for)
    begun = [effect.step for effect in effects if effect.kind in ("dispatch", "wake")]
    assert len(begun) == len(set(begun))
    assert len(plan.having("in_progress")) <= max(
        plan.parallel, len(before.having("in_progress")) + len(before.having("blocked"))
    )
    assert advance(plan, event) == (plan, ()) or not isinstance(event, Finished | Failed | Asked | Answered)
    assert advance(plan, Looked()) == (plan, ())
    return plan


def has_a_visible_reason(plan: Plan) -> bool:
    match plan.state:
        case "done":
            return all(step.status == "done" or step.failure_reason for step in plan.steps)
        case "waiting_for_user":
            return bool(plan.having("blocked"))
        case "waiting_for_commander" | "aborted":
            return all(step.failure_reason for step in plan.having("failed"))
        case "stopped":
            return plan.stopped
        case "running":
            return bool(plan.having("in_progress"))


@given(plans(), st.data())
def test_every_plan_goes_by_its_arrows_and_ends_or_says_what_it_waits_for(
    plan: Plan, data: st.DataObject
) -> None:
    plan = check_step_by_step(plan, Looked())
    for _ in range(40):
        running = plan.having("in_progress")
        acts: list[PlanEvent] = [Looked(), Stopped(), WentOn()]
        acts += [kind(step.index) for kind in (Retried, Skipped) for step in plan.steps]
        acts += [Answered(step.index, "blue") for step in plan.steps]
        acts += [Finished(step.index, step.attempt - 1, "late") for step in plan.steps]
        if running and data.draw(st.booleans()):
            step = data.draw(st.sampled_from(running))
            event = reports(data, plan, step.index, step.attempt)
        else:
            event = data.draw(st.sampled_from(acts))
        plan = check_step_by_step(plan, event)
        assert has_a_visible_reason(plan)


@given(plans(), st.data())
def test_a_plan_whose_steps_end_comes_to_its_end_without_anybodys_help(
    plan: Plan, data: st.DataObject
) -> None:
    plan = check_step_by_step(plan, Looked())
    for _ in range(len(plan.steps) * (MOST_REQUEUES + 2)):
        for step in plan.having("blocked"):
            plan = check_step_by_step(plan, Answered(step.index, "blue"))
        for step in plan.having("in_progress")[:1]:
            event = reports(data, plan, step.index, step.attempt)
            if isinstance(event, Asked):
                event = Finished(step.index, step.attempt, "ok")
            plan = check_step_by_step(plan, event)
    assert plan.state in ("done", "aborted", "waiting_for_commander")
    if plan.state == "waiting_for_commander":
        stuck = {step.index for step in plan.having("failed")}
        for step in plan.having("pending"):
            assert stuck & set(step.wait_for)
            stuck.add(step.index)
    for step in plan.steps:
        assert step.attempt <= 1 + MOST_REQUEUES


@given(plans())
def test_a_serial_plan_without_trouble_runs_by_index(plan: Plan) -> None:
    plan, order = replace(plan, parallel=1), []
    plan, effects = advance(plan, Looked())
    while plan.state != "done":
        (begun,) = [effect for effect in effects if effect.kind in ("dispatch", "wake", "form")]
        order.append(begun.step)
        is_form = begun.kind == "form"
        event = Answered(begun.step, "x") if is_form else Finished(begun.step, begun.attempt, "x")
        plan, effects = advance(plan, event)
    assert order == [step.index for step in plan.steps]
