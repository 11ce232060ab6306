"""A plan is read as it was stored, and its article says when nobody works on it any more."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from app.engine.scripted import say
from app.group_chat.plan_records import read, stored
from app.group_chat.plan_values import Plan, Step
from app.group_chat.visibility import Request
from app.workspace import messages, plans
from tests.group_chat.plans import plan_at, set_plan, step
from tests.group_chat.rooms import House, house
from tests.group_chat.teams import TeamModel

pytestmark = pytest.mark.anyio

FIELD = {"id": "colour", "type": "text", "label": "Colour?"}


async def test_a_plan_is_read_as_it_was_stored(tmp_path: Path) -> None:
    steps = (
        Step(1, "Ask", "user", "", (), "continue", (FIELD,), "done", "Red.", ("a.md",), "", 2, 1),
        Step(2, "Paint", "coder", "{{step_1.output_summary}}", (1,), failure_reason="No."),
    )
    plan = Plan(steps, Request("Paint it."), parallel=3, stopped=True)
    async with house(tmp_path, TeamModel()) as at:
        about = {"title": "", "setter": "user", "turn": None, "state": plan.state}
        plans.add_plan(at.store, at.room.id, id="plan_1", content=stored(plan), **about)  # type: ignore[arg-type]
        assert read(plans.load_plan(at.store, "plan_1")).plan == plan


def article(at: House) -> tuple[bool, dict[str, int]]:
    data = messages.load_message(at.store, plan_at(at).id).data
    return data["cut_off"], data["counts"]


async def test_the_article_of_a_plan_says_that_it_was_cut_off_until_it_goes_on(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder"), step(2, "user"))], coder=[say("One.")])
    model.gates["coder"] = anyio.Event()
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("coder")
        assert article(at) == (False, {"in_progress": 1, "pending": 1})
        conversation = at.room.id
    async with house(tmp_path, TeamModel(coder=[say("One.")]), conversation=conversation) as at:
        assert article(at) == (True, {"in_progress": 1, "pending": 1})
        await at.room.planning.go_on()
        await at.quiet()
        assert article(at) == (False, {"done": 1, "blocked": 1})
    async with house(tmp_path, TeamModel(), conversation=conversation) as at:
        assert article(at) == (False, {"done": 1, "blocked": 1})
