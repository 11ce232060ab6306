"""Steps of a live turn in the store; a store that takes nothing stops no tool and is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.scripted import ScriptedModel, say
from app.group_chat.step_log import StepLog
from app.hands.undo.tally import Tally
from app.hands.undo.values import Step
from app.workspace import steps, turns
from tests.group_chat.rooms import House, house
from tests.hands.undo.workshop import Workshop

pytestmark = pytest.mark.anyio


@pytest.fixture
def step(tmp_path: Path) -> Step:
    return Workshop(tmp_path / "shop").step("touch new")


async def log_of(at: House) -> StepLog:
    await at.say("hello")
    return StepLog(turns.list_turns(at.store, at.room.id)[0], at.room.undoing)


async def test_a_step_is_stored_while_it_runs_and_when_it_ended(tmp_path: Path, step: Step) -> None:
    async with house(tmp_path, ScriptedModel(say("Hi."))) as at:
        log = await log_of(at)
        id = await log.begin("call_1", "bash", step.before)
        assert [(row.id, row.call_id) for row in steps.open_steps(at.store)] == [(id, "call_1")]
        assert id
        log.end(id, step, Tally(1))
        [row] = steps.list_steps(at.store, at.room.id)
        assert (row.before, row.after, Tally.of(row.tally)) == (step.before.id, step.after.id, Tally(1))


async def test_a_store_that_takes_nothing_raises_nothing(tmp_path: Path, step: Step) -> None:
    async with house(tmp_path, ScriptedModel(say("Hi."))) as at:
        log = await log_of(at)
        id = await log.begin("call_1", "bash", step.before)
        assert id
        at.freeze()
        log.end(id, step, Tally(1))
        assert await log.begin("call_2", "bash", step.before) is None
        at.freeze(False)


async def test_trouble_is_said_once(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Hi."))) as at:
        log = await log_of(at)
        log.not_kept("The disk is full.")
        log.not_kept("The disk is full.")
        assert [row.text for row in at.rows() if row.kind == "notice"] == ["The disk is full."]
