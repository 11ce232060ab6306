"""Tasks: from their place in the row to an end that stays, and anew where they are taken up."""

from __future__ import annotations

import pytest

from app.workspace.errors import NotFound
from app.workspace.rows import TaskRow, TaskState
from app.workspace.store import Store
from app.workspace.tasks import (
    add_task,
    count_open,
    count_turns_since,
    end_task,
    interrupt_tasks,
    leave_task,
    list_tasks,
    load_task,
    move_task,
    work_on_task,
)
from app.workspace.turns import start_turn


def give(store: Store, chat: str, member: str = "coder", given: str = "turn_1") -> TaskRow:
    return add_task(
        store,
        chat,
        kind="dispatch",
        asker="commander",
        member=member,
        job="Count.",
        given=given,
        call_id="call_1",
    )


def test_a_task_waits_is_worked_on_and_ends(store: Store, chat: str) -> None:
    task = give(store, chat)
    assert (task.state, task.turn, task.is_open) == ("queued", None, True)
    working = work_on_task(store, task.id, "turn_2", given="turn_1")
    assert (working.state, working.turn) == ("running", "turn_2")
    assert move_task(store, task.id, "waiting_for_approval").is_open
    ended = end_task(store, task.id, "done", "Two.")
    assert (ended.state, ended.outcome, ended.is_open) == ("done", "Two.", False)
    assert ended.ended is not None
    assert list_tasks(store, chat) == [ended]


def test_the_first_end_counts_and_nothing_moves_what_has_ended(store: Store, chat: str) -> None:
    task = give(store, chat)
    end_task(store, task.id, "failed", "No key.")
    assert end_task(store, task.id, "done", "Two.").state == "failed"
    assert move_task(store, task.id, "running").state == "failed"


def test_one_that_is_taken_up_belongs_to_the_turn_that_waits_for_it_now(store: Store, chat: str) -> None:
    task = give(store, chat)
    end_task(store, task.id, "interrupted")
    again = work_on_task(store, task.id, "turn_4", given="turn_3")
    assert (again.state, again.given, again.ended, again.outcome) == ("running", "turn_3", None, None)
    assert [row.id for row in list_tasks(store, chat, given="turn_3")] == [task.id]
    assert list_tasks(store, chat, given="turn_1") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("queued", "interrupted"),
        ("running", "interrupted"),
        ("waiting_for_approval", "interrupted"),
        ("waiting_for_form", "waiting_for_form"),
        ("done", "done"),
        ("cancelled", "cancelled"),
    ],
)
def test_after_a_start_nobody_works_and_a_form_still_waits(
    store: Store, chat: str, before: TaskState, after: TaskState
) -> None:
    task = give(store, chat)
    if before in ("done", "cancelled"):
        end_task(store, task.id, before)
    else:
        move_task(store, task.id, before)
    interrupt_tasks(store)
    assert load_task(store, task.id).state == after
    assert count_open(store, chat) == (1 if after == "waiting_for_form" else 0)


def test_a_task_whose_turn_was_cut_off_is_left_and_one_that_has_ended_stays(store: Store, chat: str) -> None:
    left, ended = give(store, chat), give(store, chat)
    end_task(store, ended.id, "done", "Two.")
    for task in (left, ended):
        leave_task(store, task.id)
    assert [row.state for row in list_tasks(store, chat)] == ["interrupted", "done"]


def test_turns_are_counted_from_the_one_that_the_user_set_off(store: Store, chat: str) -> None:
    for name, trigger in (("a", "msg_1"), ("b", "msg_2"), ("c", "task_1"), ("d", "msg_2")):
        start_turn(store, chat, member=name, session=f"ses_{name}", trigger=trigger)
    assert count_turns_since(store, chat, "msg_2") == 3


def test_a_task_of_nowhere(store: Store) -> None:
    with pytest.raises(NotFound):
        give(store, "conv_none")
    with pytest.raises(NotFound):
        end_task(store, "task_none", "done")
