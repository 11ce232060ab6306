"""A plan that cannot run is refused with the reason; what looks like one is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.plan_check import MOST_STEPS, PlanRefused, check_plan, edit_step, keep_results
from app.group_chat.plan_steps import Finished, Looked, advance
from app.group_chat.plan_values import Plan
from tests.case_tables import load_jsonl

ROWS = [row for row in load_jsonl("plan_cases.jsonl") if "refused" in row["expect"]]
MEMBERS = ["coder", "writer"]


def step(index: Any, **more: Any) -> dict[str, Any]:
    return {"index": index, "title": f"Step {index}", "assignee": "coder", **more}


def checked(*steps: Any) -> Plan:
    plan = check_plan(steps, MEMBERS)
    assert isinstance(plan, Plan), plan
    return plan


def reasons(plan: Plan | PlanRefused) -> list[str]:
    assert isinstance(plan, PlanRefused)
    assert all(problem.sentence.endswith(".") for problem in plan.problems)
    return [problem.reason for problem in plan.problems]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_wrong_plan_is_refused_as_the_table_says(row: dict[str, Any]) -> None:
    assert (
        reasons(check_plan(row["steps"], row["members"], parallel=row["parallel"]))[0]
        in row["expect"]["refused"]
    )


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "no_steps"),
        ([step(index) for index in range(1, MOST_STEPS + 2)], "too_many_steps"),
        (["first"], "bad_step"),
        ([step(1), step(3)], "bad_index"),
        ([step(2)], "bad_index"),
        ([step(0), step(1)], "bad_index"),
        ([step(True)], "bad_index"),
        ([step(1.0)], "bad_index"),
        ([{"index": 1, "assignee": "coder"}], "bad_title"),
        ([step(1, title=" ")], "bad_title"),
        ([{"index": 1, "title": "x"}], "unknown_assignee"),
        ([step(1, assignee="Coder")], "unknown_assignee"),
        ([step(1, assignee=["coder"])], "unknown_assignee"),
        ([step(1, input=["x"])], "bad_input"),
        ([step(1, on_failure="retry")], "bad_on_failure"),
        ([step(1, fields=[{"id": "x"}])], "bad_fields"),
        ([step(1, assignee="user", fields="x")], "bad_fields"),
        ([step(1), step(2, wait_for=[7])], "unknown_reference"),
        ([step(1), step(2, wait_for=["1"])], "unknown_reference"),
        ([step(1), step(2, wait_for=1)], "unknown_reference"),
        ([step(1), step(2, input="{{step_7.output_summary}}")], "unknown_reference"),
        ([step(1, input="{{ step_2.output_files }}"), step(2)], "later_reference"),
        ([step(1), step(2, input="{{step_1}}")], "bad_template"),
        ([step(1), step(2, input="{{step_1.output_summary|upper}}")], "bad_template"),
        ([step(1), step(2, title="{{step_2.output_summary}}")], "self_reference"),
    ],
)
def test_what_cannot_run_is_refused(steps: list[Any], reason: str) -> None:
    assert reasons(check_plan(steps, MEMBERS)) == [reason]


@pytest.mark.parametrize(
    "steps",
    [
        [step(2), step(1)],
        [step(1, assignee="user", fields=[{"id": "month"}])],
        [step(1, wait_for=None, input=None, on_failure=None)],
        [
            step(1),
            step(2, input="{{name}} {{ step }} {{steps_1.output}} {step_9} {{step_one.output_summary}}"),
        ],
        [step(1, input="{{user_message}}")],
    ],
)
def test_what_only_looks_wrong_is_a_plan(steps: list[Any]) -> None:
    checked(*steps)


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = step(1, assignee="painter", on_failure="x"), step(2, wait_for=[2, 3])
    assert reasons(check_plan(wrong, MEMBERS)) == [
        "unknown_assignee",
        "bad_on_failure",
        "self_reference",
        "unknown_reference",
    ]


def test_a_step_waits_for_the_one_before_unless_it_says_otherwise_and_for_all_it_takes_over() -> None:
    plan = checked(
        step(1), step(2), step(3, wait_for=[]), step(4, wait_for=[2, 2], input="{{step_1.output_summary}}")
    )
    assert [one.wait_for for one in plan.steps] == [(), (1,), (), (1, 2)]


def test_only_a_pending_step_is_edited_and_checked_as_a_new_one_is() -> None:
    plan = advance(checked(step(1), step(2)), Looked()).plan
    assert reasons(edit_step(plan, 1, {"title": "x"}, MEMBERS)) == ["not_pending"]
    assert reasons(edit_step(plan, 2, {"input": "{{step_2.output_summary}}"}, MEMBERS)) == ["self_reference"]
    assert reasons(edit_step(plan, 2, {"status": "done"}, MEMBERS)) == ["unknown_field"]
    assert reasons(edit_step(plan, 2, {"index": 1}, MEMBERS)) == ["duplicate_index"]
    edited = edit_step(plan, 2, {"title": "Paint", "assignee": "writer"}, MEMBERS)
    assert isinstance(edited, Plan)
    assert edited.steps[0] == plan.steps[0]
    assert (edited.steps[1].template, edited.steps[1].assignee) == ("Paint", "writer")


def test_a_new_plan_keeps_what_is_done_of_the_old_one_as_far_as_nothing_before_it_changed() -> None:
    old = checked(step(1), step(2), step(3, wait_for=[]), step(4))
    for index in (1, 2, 3):
        old = advance(advance(old, Looked()).plan, Finished(index, 1, "ok")).plan
    kept = keep_results(checked(step(1, title="Other"), step(2), step(3, wait_for=[]), step(4)), old)
    assert [one.status for one in kept.steps] == ["pending", "pending", "done", "pending"]
    assert keep_results(checked(step(1), step(2)), old).state == "done"


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["index", "title", "wait_for", "input", "fields", "x"]),
            st.one_of(
                st.none(), st.booleans(), st.integers(-1, 3), st.text(max_size=3), st.lists(st.integers(0, 3))
            ),
        ),
        max_size=4,
    )
)
def test_whatever_is_given_is_a_plan_or_is_refused_in_words(given: list[Any]) -> None:
    found = check_plan([{"assignee": "coder"} | one for one in given], MEMBERS)
    assert isinstance(found, Plan) or found.sentence
