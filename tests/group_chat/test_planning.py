"""What is done to a plan from outside: it is set, refused, asked about, stopped, and its steps retried and changed."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.engine.scripted import say
from app.group_chat.errors import CannotPlan
from app.workspace import conversations, plans
from tests.group_chat.plans import REFUSED, board, plan_at, set_plan, step
from tests.group_chat.rooms import house
from tests.group_chat.teams import TeamModel, heard, results

pytestmark = pytest.mark.anyio


async def test_a_plan_that_cannot_run_is_refused_with_every_reason(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(step(1, "nobody"), step(2, "coder", "{{step_3.output_summary}}")), say("Hm.")]
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        (refused,) = results(model.asked["commander"][1])
        assert refused.startswith("E_ARGUMENTS")
        assert "'nobody'" in refused
        assert "step 3" in refused
        assert plans.find_plan(at.store, at.room.id) is None


async def test_the_plan_alone_is_stopped(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder")), say("Yes?")], coder=[say("One.")])
    model.gates["coder"] = anyio.Event()
    model.gates["commander"] = anyio.Event()
    model.gates["commander"].set()
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("coder")
        model.gates["commander"] = anyio.Event()
        await at.room.post("You there?", client_id="c2")
        await model.asks("commander", 2)
        await at.room.planning.stop()
        assert [floor.member for floor in at.room.at_work] == ["commander"]
        assert plan_at(at).row.state == "stopped"
        model.gates["commander"].set()
        await at.quiet()


async def test_retry_skip_and_edit_are_the_users(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            set_plan(step(1, "coder", on_failure="abort_plan"), step(2, "writer"), step(3, "writer", "Old."))
        ],
        coder=[[REFUSED], say("One.")],
        writer=[say("New one.")],
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        assert (plan_at(at).row.state, board(at)) == ("aborted", ["failed", "skipped", "skipped"])
        model.gates["coder"] = anyio.Event()
        await at.room.planning.retry(1)
        await model.asks("coder", 2)
        assert board(at) == ["in_progress", "pending", "pending"]
        await at.room.planning.skip(2)
        await at.room.planning.edit(3, {"input": "New."})
        with pytest.raises(CannotPlan, match="begun or ended"):
            await at.room.planning.edit(1, {"input": "New."})
        with pytest.raises(CannotPlan, match="nobody"):
            await at.room.planning.edit(3, {"assignee": "nobody"})
        with pytest.raises(CannotPlan, match="not failed"):
            await at.room.planning.retry(1)
        model.gates["coder"].set()
        await at.quiet()
        assert board(at) == ["done", "skipped", "done"]
        assert heard(model.asked["writer"][0]).rstrip().endswith("New.")


async def test_more_steps_are_done_at_the_same_time_as_soon_as_the_user_says_so(tmp_path: Path) -> None:
    steps = [step(index, who, wait_for=[]) for index, who in enumerate(("coder", "writer", "analyst"), 1)]
    model = TeamModel(commander=[set_plan(*steps)], coder=[say("1")], writer=[say("2")], analyst=[say("3")])
    model.gates = {name: anyio.Event() for name in ("coder", "writer", "analyst")}
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("coder")
        await at.room.planning.set_parallel(2)
        await model.asks("writer")
        assert board(at) == ["in_progress", "in_progress", "pending"]
        await at.room.planning.set_parallel(1)
        model.gates["coder"].set()
        with anyio.fail_after(10):
            while board(at)[0] != "done":
                await anyio.lowlevel.checkpoint()
        assert board(at) == ["done", "in_progress", "pending"]
        for gate in model.gates.values():
            gate.set()
        await at.quiet()
        assert board(at) == ["done"] * 3
        ended = plan_at(at).row.ended
        await at.room.planning.set_parallel(3)
        assert plan_at(at).row.ended == ended
        for wrong in (0, 21):
            with pytest.raises(CannotPlan, match="From 1 to 20"):
                await at.room.planning.set_parallel(wrong)


async def test_cautious_access_shows_the_steps_and_asks_first(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder", "Count.")), say("Then not.")])
    async with house(tmp_path, model) as at:
        conversations.choose_access(at.store, at.room.id, "cautious")
        await at.room.post("Go.", client_id="c1")
        with anyio.fail_after(10):
            while not (asked := [row for row in at.rows() if row.kind == "approval"]):
                await anyio.lowlevel.checkpoint()
        assert asked[0].data["approval"] == "plan"
        assert asked[0].data["payload"] == "1. Part 1 (coder)\n   Count."
        assert asked[0].data["steps"] == [
            {"index": 1, "title": "Part 1", "assignee": "coder", "input": "Count.", "wait_for": []}
        ]
        await at.room.decide(asked[0].id, "deny")
        await at.quiet()
        assert plans.find_plan(at.store, at.room.id) is None
