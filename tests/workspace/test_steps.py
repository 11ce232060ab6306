"""Steps of a conversation: begun, ended, and found open after a crash."""

from __future__ import annotations

import pytest

from app.workspace.conversations import purge
from app.workspace.rows import StepRow
from app.workspace.steps import begin_step, drop_step, end_step, list_steps, open_steps
from app.workspace.store import Store
from tests.models.stands import HandClock

TALLY = {"files": 1, "lines": []}


def begin(store: Store, chat: str, turn: str = "turn_1") -> StepRow:
    return begin_step(store, chat, turn=turn, call_id="call_1", tool="bash", before="snap_1")


def test_a_step_is_open_until_it_ends(store: Store, chat: str) -> None:
    step = begin(store, chat)
    assert open_steps(store) == [step] == open_steps(store, chat)
    end_step(store, step, after="snap_2", tally=TALLY)
    assert open_steps(store) == []
    [ended] = list_steps(store, chat)
    assert (ended.after, ended.tally) == ("snap_2", TALLY)


def test_the_first_end_counts(store: Store, chat: str) -> None:
    step = begin(store, chat)
    end_step(store, step, after="snap_2", tally=TALLY)
    end_step(store, step, after="snap_3", tally={"files": 9, "lines": []})
    assert [row.after for row in list_steps(store, chat)] == ["snap_2"]


def test_the_last_step_of_a_turn_has_the_tally(store: Store, chat: str) -> None:
    steps = [begin(store, chat), begin(store, chat), begin(store, chat, "turn_2")]
    for step in steps:
        end_step(store, step, after="snap_2", tally=TALLY)
    assert [row.tally for row in list_steps(store, chat)] == [None, TALLY, TALLY]


def test_steps_stand_in_their_order_whatever_the_clock_says(
    store: Store, chat: str, clock: HandClock
) -> None:
    first = begin(store, chat)
    clock.move(seconds=-60)
    second = begin(store, chat)
    assert [row.id for row in list_steps(store, chat)] == [first.id, second.id]


def test_one_that_changed_nothing_is_dropped(store: Store, chat: str) -> None:
    drop_step(store, begin(store, chat))
    assert list_steps(store, chat) == []


@pytest.mark.parametrize("ended", [True, False])
def test_steps_go_with_their_conversation(store: Store, chat: str, ended: bool) -> None:
    step = begin(store, chat)
    if ended:
        end_step(store, step, after="snap_2", tally=TALLY)
    purge(store, [chat])
    assert (list_steps(store, chat), open_steps(store)) == ([], [])
