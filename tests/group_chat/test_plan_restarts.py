"""A plan whose process dies, or ends, in the middle of each status: the same board is there, and the work goes on."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.engine.scripted import call, say
from app.workspace import messages
from tests.group_chat.plans import REFUSED, board, chat, plan_at, set_plan, step
from tests.group_chat.rooms import House, house
from tests.group_chat.teams import TeamModel, heard

pytestmark = pytest.mark.anyio

TWO = (step(1, "coder", "Count."), step(2, "writer", "Write about {{step_1.output_summary}}"))


def crash(at: House, tmp_path: Path) -> Path:
    """What the disk would hold if the process died now, as a folder to open."""
    left = tmp_path / "after"
    shutil.copytree(at.folder.root, left / "data")
    shutil.copytree(at.workspace, left / "work")
    return left


def the_form(at: House) -> str:
    (form,) = [row for row in at.rows() if row.kind == "form" and row.state == "streaming"]
    return form.id


async def until_form(at: House) -> str:
    with anyio.fail_after(10):
        while not any(row.kind == "form" and row.state == "streaming" for row in at.rows()):
            await anyio.lowlevel.checkpoint()
    return the_form(at)


@pytest.mark.parametrize("how", ["crash", "close"])
async def test_a_step_that_was_cut_off_goes_on_as_the_same_attempt(tmp_path: Path, how: str) -> None:
    model = TeamModel(commander=[set_plan(*TWO)], coder=[say("One.")])
    model.gates["coder"] = anyio.Event()
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("coder")
        left, conversation = (crash(at, tmp_path) if how == "crash" else tmp_path), at.room.id
    after = TeamModel(coder=[say("Two files.")], writer=[say("A text.")])
    async with house(left, after, conversation=conversation) as at:
        assert board(at) == ["in_progress", "pending"]
        assert at.room.at_work == ()
        await at.room.resume()
        await at.quiet()
        kept = plan_at(at)
        assert board(at) == ["done", "done"]
        assert [one.attempt for one in kept.plan.steps] == [1, 1]
        assert [row[2] for row in chat(at) if row[1] == "dispatch"] == ["Count.", "Write about Two files."]
        told = heard(after.asked["coder"][0])
        assert told.count("Count.") == 1
        assert "Go on from where you stopped." in told


async def test_an_open_form_of_a_step_outlives_the_process(tmp_path: Path) -> None:
    asks = step(1, "user", "Which colour?")
    async with house(tmp_path, TeamModel(commander=[set_plan(asks, TWO[1])])) as at:
        await at.say("Go.")
        assert (plan_at(at).row.state, board(at)) == ("waiting_for_user", ["blocked", "pending"])
        left, conversation = crash(at, tmp_path), at.room.id
    model = TeamModel(writer=[say("A text.")])
    async with house(left, model, conversation=conversation) as at:
        assert board(at) == ["blocked", "pending"]
        form = the_form(at)
        assert await at.room.forms.answer(form, {"answer": [""]}) == {"answer": "Fill this in."}
        assert await at.room.forms.answer(form, {"answer": ["Red."]}) == {}
        await at.quiet()
        assert board(at) == ["done", "done"]
        assert "Write about Red." in heard(model.asked["writer"][0])


async def test_the_question_of_a_member_outlives_the_process_and_its_answer_resumes_the_step(
    tmp_path: Path,
) -> None:
    asks = call("ask_user", "q1", fields=[{"id": "colour", "type": "text", "label": "Colour?"}])
    async with house(tmp_path, TeamModel(commander=[set_plan(*TWO)], coder=[[asks]])) as at:
        await at.room.post("Go.", client_id="c1")
        await until_form(at)
        assert (board(at), [floor.state for floor in at.room.at_work]) == (["blocked", "pending"], ["asking"])
        left, conversation = crash(at, tmp_path), at.room.id
    model = TeamModel(coder=[say("Red ones: two.")], writer=[say("A text.")])
    async with house(left, model, conversation=conversation) as at:
        assert board(at) == ["blocked", "pending"]
        await at.room.forms.answer(the_form(at), {"colour": ["red"]})
        await at.quiet()
        assert board(at) == ["done", "done"]
        assert [one.attempt for one in plan_at(at).plan.steps] == [1, 1]
        assert "red" in heard(model.asked["coder"][0])


async def test_a_member_that_asks_blocks_its_step_until_it_is_answered(tmp_path: Path) -> None:
    asks = call("ask_user", "q1", fields=[{"id": "colour", "type": "text", "label": "Colour?"}])
    model = TeamModel(commander=[set_plan(*TWO)], coder=[[asks], say("Two.")], writer=[say("A text.")])
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        form = await until_form(at)
        assert (plan_at(at).row.state, board(at)) == ("waiting_for_user", ["blocked", "pending"])
        await at.room.forms.answer(form, {"colour": ["red"]})
        await at.quiet()
        assert board(at) == ["done", "done"]


async def test_a_failure_and_what_was_asked_about_it_outlive_the_process(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(*TWO), say("Hm.")], coder=[[REFUSED]])
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("commander")
        model.gates["commander"] = anyio.Event()
        await model.asks("commander", 2)
        left, conversation = crash(at, tmp_path), at.room.id
    after = TeamModel(commander=[say("Skip it.")], writer=[say("A text.")])
    async with house(left, after, conversation=conversation) as at:
        assert (board(at), plan_at(at).plan.steps[0].failure_reason) == (
            ["failed", "pending"],
            "The key was refused.",
        )
        await at.room.resume()
        await at.quiet()
        assert len(after.asked["commander"]) == 1
        await at.room.planning.skip(1)
        await at.quiet()
        assert board(at) == ["skipped", "done"]
        assert "(step 1 was skipped)" in heard(after.asked["writer"][0])


async def test_what_has_ended_and_what_was_stopped_stay_as_they_are(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(*TWO, step(3, "user", "Well?"))], coder=[say("1")], writer=[say("2")]
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        await at.room.planning.stop()
        assert (plan_at(at).row.state, board(at)) == ("stopped", ["done", "done", "pending"])
        left, conversation = crash(at, tmp_path), at.room.id
        before = plan_at(at)
    async with house(left, TeamModel(), conversation=conversation) as at:
        assert plan_at(at) == before
        assert [row.state for row in at.rows() if row.kind == "form"] == ["interrupted"]
        await at.room.planning.go_on()
        assert board(at) == ["done", "done", "blocked"]
        assert len([row for row in at.rows() if row.kind == "form"]) == 2


async def test_a_plan_that_was_set_when_the_process_died_begins_when_the_user_says_so(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(*TWO)], coder=[say("1")], writer=[say("2")])
    async with house(tmp_path, model) as at:
        conversation = at.room.id
        await at.room.post("Go.", client_id="c1")
        with anyio.fail_after(10):
            while not any(row.kind == "plan" for row in at.rows()):
                await anyio.lowlevel.checkpoint()
        left = crash(at, tmp_path)
        begun = plan_at(at).is_begun
        await at.quiet()
    after = TeamModel(commander=[say("It is set.")], coder=[say("1")], writer=[say("2")])
    async with house(left, after, conversation=conversation) as at:
        if not begun:
            assert (plan_at(at).row.state, board(at)) == ("stopped", ["pending", "pending"])
        await at.room.planning.go_on()
        await at.quiet()
        assert board(at) == ["done", "done"]


async def test_a_user_who_declines_skips_the_step(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "user", "Well?"), TWO[1])], writer=[say("2")])
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        await at.room.forms.decline(the_form(at))
        await at.quiet()
        assert board(at) == ["skipped", "done"]


async def test_talking_to_commander_leaves_the_form_of_a_plan_open(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "user", "Well?")), say("Take your time.")])
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        await at.say("I have to think.")
        await at.room.forms.answer(the_form(at), {"answer": ["Yes."]})
        assert board(at) == ["done"]
        assert messages.load_message(at.store, plan_at(at).id).data["state"] == "done"
