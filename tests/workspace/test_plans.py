"""Plans of a conversation: one at a time, and the ended ones stay."""

from __future__ import annotations

import pytest

from app.workspace.errors import NotFound
from app.workspace.plans import add_plan, change_plan, find_plan, list_plans, load_plan
from app.workspace.rows import PlanRow, TaskRow
from app.workspace.store import Store
from app.workspace.tasks import add_task, end_task, interrupt_tasks, list_given, queue_task
from app.workspace.turns import list_jobs, mark_interrupted, start_turn


def make(store: Store, chat: str, id: str = "plan_1") -> PlanRow:
    return add_plan(
        store,
        chat,
        id=id,
        title="",
        setter="commander",
        turn="turn_1",
        state="stopped",
        content={"steps": []},
    )


def give(store: Store, chat: str, member: str = "coder") -> TaskRow:
    return add_task(
        store,
        chat,
        kind="plan",
        asker="commander",
        member=member,
        job="Build.",
        given="plan_1",
        call_id="1.1",
    )


def test_a_plan_is_kept_and_changed(store: Store, chat: str) -> None:
    row = make(store, chat)
    assert find_plan(store, chat) == load_plan(store, row.id) == row
    changed = change_plan(store, row.id, state="running", content={"steps": [{"title": "a\0b"}]})
    assert (changed.state, changed.content) == ("running", {"steps": [{"title": "ab"}]})
    assert changed.revision > row.revision


def test_a_new_plan_ends_the_one_before_and_both_are_listed(store: Store, chat: str) -> None:
    make(store, chat)
    make(store, chat, "plan_2")
    assert [(row.id, row.state, row.ended is None) for row in list_plans(store, chat)] == [
        ("plan_2", "stopped", True),
        ("plan_1", "replaced", False),
    ]


def test_one_that_has_ended_stays_as_it_ended(store: Store, chat: str) -> None:
    row = make(store, chat)
    change_plan(store, row.id, state="done", ended=store.now())
    make(store, chat, "plan_2")
    assert load_plan(store, row.id).state == "done"


def test_a_plan_that_is_not_there_is_said_so(store: Store, chat: str) -> None:
    assert find_plan(store, chat) is None
    with pytest.raises(NotFound):
        load_plan(store, "plan_9")


def test_a_task_of_a_plan_that_was_cut_off_waits_again_and_one_that_has_ended_does_not(
    store: Store, chat: str
) -> None:
    cut, done = give(store, chat), give(store, chat, "writer")
    end_task(store, done.id, "done")
    interrupt_tasks(store)
    assert queue_task(store, cut.id).state == "queued"
    assert queue_task(store, done.id).state == "done"
    assert [row.id for row in list_given(store, "plan_1")] == [cut.id, done.id]


def test_a_turn_of_a_plan_is_nobodys_job_and_its_cut_is_told_in_the_chat(store: Store, chat: str) -> None:
    task = give(store, chat)
    turn = start_turn(store, chat, member="coder", session="ses_1", trigger=task.id, task=task.id)
    assert list_jobs(store, chat) == frozenset()
    assert [row.data["notice"] for row in mark_interrupted(store, turn.id).messages] == ["interrupted"]
