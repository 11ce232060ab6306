"""Turns and the tasks in them, as their list shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from app.engine.events import Done, Failure
from app.group_chat.outcomes import for_reader, outcome
from app.web.task_views import task_view, turn_view
from app.workspace.attached import with_attachments
from app.workspace.rows import OPEN_TASKS, TaskRow, TaskState, TurnRow
from app.workspace.usage import UsageSum
from tests.web.samples import ATTACHED, TIME, row

LATER = "2026-11-30T12:00:30.000Z"
TURN = TurnRow("turn_1", "conv_1", 1, "commander", "s", "msg_1", "completed", None, None, None, TIME, LATER)
TASK = TaskRow(
    "task_1", "conv_1", 1, "dispatch", "commander", "coder", "\n Count\nall", "turn_1", "c", "turn_2", "done",
    "[Coder has done it, in 2 steps.]\nTwo.", TIME, LATER,
)  # fmt: skip
SPENT = UsageSum("turn_1", 2, 100, 20, 0, 0, 0.5, 1, 0)


def test_a_turn_is_named_by_what_was_asked() -> None:
    asked = row("user", "done", "\n First line\nsecond", member="user")
    assert turn_view(TURN, asked).name == "First line"
    assert (
        turn_view(TURN, replace(asked, text="", data=with_attachments({}, ATTACHED))).name
        == "<b>.log, seen.png"
    )
    assert turn_view(replace(TURN, trigger="retry"), None).name == "Tried again"
    assert turn_view(replace(TURN, trigger="continue"), None).name == "Continued"
    assert turn_view(TURN, asked).seconds == 30
    assert turn_view(replace(TURN, state="running", ended=None), asked).seconds is None


def test_what_a_turn_took_is_said_when_it_has_ended() -> None:
    view = turn_view(TURN, None, spent=SPENT)
    assert (view.tokens, view.cost) == (120, 0.5)
    running = turn_view(replace(TURN, state="running", ended=None), None, spent=SPENT)
    assert (running.tokens, running.cost) == (0, None)
    assert turn_view(TURN, None, spent=replace(SPENT, unknown_costs=2)).cost is None


@pytest.mark.parametrize("state", get_args(TaskState))
def test_a_task_offers_what_can_be_done_with_it(state: TaskState) -> None:
    view = task_view(replace(TASK, state=state), replace(TURN, id="turn_2"))
    assert view.standing.word
    assert view.stop == ("/conversations/conv_1/turns/turn_2/stop" if state in OPEN_TASKS else "")
    retries = state in ("failed", "interrupted", "cancelled")
    assert view.retry == ("/conversations/conv_1/tasks/task_1/retry" if retries else "")


def test_a_task_that_waits_for_its_place_counts_nothing_yet() -> None:
    view = task_view(replace(TASK, state="queued", turn=None, ended=None), None)
    assert (view.waits, view.seconds, view.stop) == (True, None, "")


def test_a_reader_sees_what_came_of_a_task_and_not_what_is_meant_for_a_model() -> None:
    view = task_view(TASK, TURN)
    assert (view.name, view.outcome.text) == ("Count", "Two.")
    failed = Done("failed", text="Half of it.", error=Failure("auth", "The key was refused."))
    told = outcome("Coder", failed)
    assert told.startswith("E_TASK: ")
    assert for_reader(told) == "Coder did not finish it: The key was refused."
    assert (
        for_reader(outcome("Coder", Done("completed", text="[a] list\nof two", steps=1)))
        == "[a] list\nof two"
    )
    assert for_reader("") == ""
