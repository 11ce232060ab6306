"""What led to a turn: what the user said, and how much has come of that already."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from app.engine.scripted import call, say
from app.group_chat.bounds import MOST_TURNS
from app.workspace import turns
from tests.group_chat.plans import board, set_plan, step
from tests.group_chat.rooms import House, house
from tests.group_chat.teams import TeamModel, dispatch, heard, results

pytestmark = pytest.mark.anyio


async def test_messages_that_were_sent_together_lead_to_a_job_together(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[say("Wait."), dispatch(("coder", "Count.")), say("Two.")],
        coder=[say("two")],
    )
    model.gates = {"commander": anyio.Event()}
    async with house(tmp_path, model) as at:
        await at.room.post("Hello.", client_id="c1")
        await at.room.post("Count the files.", client_id="c2")
        await at.room.post("Only the small ones.", client_id="c3")
        model.gates["commander"].set()
        await at.quiet()
        told = heard(model.asked["coder"][0])
        assert told.index("Count the files.") < told.index("Only the small ones.") < told.rindex("Count.")
        assert "Hello." not in told


async def test_a_message_sets_off_a_hundred_turns_at_most(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            dispatch(("coder", "One.")),
            [call("run_worker", "w1", task="Look.")],
            [call("hand_off_to", "h1", to="tutor", message="Teach.")],
            say("I sum up."),
        ],
        coder=[say("one")],
    )
    model.gates = {"commander": anyio.Event()}
    async with house(tmp_path, model) as at:
        await at.room.post("Go on and on.", client_id="c1")
        await model.asks("commander")
        for number in range(MOST_TURNS - 2):
            add_turn(at, number)
        model.gates["commander"].set()
        await at.quiet()
        assert results(model.asked["commander"][1])[-1].endswith("\none")
        refusal = (
            "E_DENIED: The user's message has set off 100 turns, no more are taken. Sum up what is done and what is "
            "missing, and let the user decide how to go on."
        )
        assert results(model.asked["commander"][2])[-1] == refusal
        assert results(model.asked["commander"][3])[-1] == refusal
        assert at.room.holder == "commander"


async def test_plans_that_commander_sets_one_out_of_the_other_are_among_them(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            set_plan(step(1, "commander"), id="p1"),
            set_plan(step(1, "commander", "Again."), id="p2"),
            say("I sum up."),
        ],
    )
    model.gates = {"commander": anyio.Event()}
    async with house(tmp_path, model) as at:
        await at.room.post("Go on and on.", client_id="c1")
        await model.asks("commander")
        for number in range(MOST_TURNS - 2):
            add_turn(at, number)
        model.gates["commander"].set()
        await at.quiet()
        (refused,) = results(model.asked["commander"][2])[-1:]
        assert refused.startswith("E_DENIED: The user's message has set off 100 turns")
        assert board(at) == ["done"]


def add_turn(at: House, number: int) -> None:
    """One more that has ended."""
    turn = turns.start_turn(
        at.store, at.room.id, member="writer", session=f"ses_{number}", trigger=f"task_{number}", task="task"
    )
    turns.end_turn(at.store, turn.id, state="completed")
