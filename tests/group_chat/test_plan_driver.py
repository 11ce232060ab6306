"""A plan in a real room: its steps are turns of its members, and what they come to is what really happened."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from app.engine.scripted import call, say
from app.workspace import plans, tasks
from app.workspace.settings import set_setting
from tests.group_chat.plans import REFUSED, board, chat, plan_at, set_plan, step
from tests.group_chat.rooms import house
from tests.group_chat.teams import TeamModel, heard

pytestmark = pytest.mark.anyio


async def test_a_plan_begins_when_the_turn_that_set_it_ends_and_hands_results_on(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            [
                *say("Two steps.", stop=None),
                *set_plan(
                    step(1, "coder", "Count."), step(2, "writer", "Write about {{step_1.output_summary}}")
                ),
            ]
        ],
        coder=[say("Two files.")],
        writer=[say("A text.")],
    )
    async with house(tmp_path, model) as at:
        await at.say("Report on the files.")
        assert chat(at) == [
            ("user", "user", "Report on the files."),
            ("commander", "assistant", "Two steps."),
            ("commander", "plan", ""),
            ("commander", "dispatch", "Count."),
            ("coder", "assistant", "Two files."),
            ("commander", "dispatch", "Write about Two files."),
            ("writer", "assistant", "A text."),
        ]
        kept = plan_at(at)
        assert (kept.row.state, board(at)) == ("done", ["done", "done"])
        assert kept.plan.steps[1].output_summary == "A text."
        told = heard(model.asked["writer"][0])
        assert told.index("Report on the files.") < told.index("Write about <said by")
        assert told.rstrip().endswith("Two files.\n</said>")


async def test_what_a_step_wrote_is_handed_on_by_name(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            set_plan(step(1, "coder", "Write it."), step(2, "writer", "Read {{step_1.output_files}}."))
        ],
        coder=[[call("write_file", path="out.txt", content="x")], say("Done.")],
        writer=[say("Read.")],
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        assert plan_at(at).plan.steps[0].output_files == ("out.txt",)
        assert "Read out.txt." in heard(model.asked["writer"][0])


async def test_words_that_say_a_step_is_done_change_nothing(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(step(1, "coder"), step(2, "writer")), say("Step 2 is done, step 1 too.")],
        coder=[say("Step 1 is done. Step 2 is done as well.")],
        writer=[say("Fine.")],
    )
    model.gates["writer"] = anyio.Event()
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("writer")
        assert board(at) == ["done", "in_progress"]
        await at.room.post("Is it done?", client_id="c2")
        await model.asks("commander", 2)
        assert board(at) == ["done", "in_progress"]
        model.gates["writer"].set()
        await at.quiet()
        assert board(at) == ["done", "done"]


async def test_the_user_talks_to_commander_while_a_plan_goes_on(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(step(1, "coder")), say("It goes on.")], coder=[say("Done."), say("Yes.")]
    )
    model.gates["coder"] = anyio.Event()
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("coder")
        await at.room.post("How is it?", client_id="c2")
        await model.asks("commander", 2)
        await at.room.post("@Coder hurry", client_id="c3")
        assert [row.text for row in at.rows() if row.kind == "user"] == ["Go.", "How is it?"]
        model.gates["coder"].set()
        await at.quiet()
        assert ("commander", "assistant", "It goes on.") in chat(at)
        assert ("user", "user", "@Coder hurry") in chat(at)
        assert board(at) == ["done"]


async def test_a_step_of_commander_is_a_wake_up_without_a_message(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            set_plan(step(1, "coder"), step(2, "commander", "Sum up {{step_1.output_summary}}")),
            say("All in all: two."),
        ],
        coder=[say("Two.")],
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        assert [row for row in chat(at) if row[1] == "dispatch"] == [("commander", "dispatch", "Part 1")]
        assert "Sum up <said by" in heard(model.asked["commander"][1])
        assert chat(at)[-1] == ("commander", "assistant", "All in all: two.")
        assert board(at) == ["done", "done"]


async def test_a_transient_failure_is_tried_again_without_a_word(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder"))], coder=[say("So f", stop=None), say("Done.")])
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        assert board(at) == ["done"]
        assert [row[1] for row in chat(at)].count("dispatch") == 1
        assert heard(model.asked["coder"][-1]).count("Go.") == 1
        assert not [row for row in at.rows() if row.kind == "notice" and not row.data.get("settled")]


async def test_commander_is_asked_about_a_failure_and_sets_a_plan_that_keeps_what_is_done(
    tmp_path: Path,
) -> None:
    first = (step(1, "coder", "Count."), step(2, "writer", "Write."))
    second = (step(1, "coder", "Count."), step(2, "analyst", "Write."))
    model = TeamModel(
        commander=[set_plan(*first), set_plan(*second, id="p2")],
        coder=[say("Two.")],
        writer=[[REFUSED]],
        analyst=[say("Written.")],
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        told = heard(model.asked["commander"][1])
        assert "Step 2 of the plan" in told
        assert "The key was refused." in told
        assert board(at) == ["done", "done"]
        assert len(model.asked["coder"]) == 1
        assert [row.state for row in plans.list_plans(at.store, at.room.id)] == ["done", "replaced"]


async def test_stop_ends_what_runs_and_the_plan_goes_on_when_the_user_says_so(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(step(1, "coder"), step(2, "writer"))],
        coder=[say("One."), say("One.")],
        writer=[say("2.")],
    )
    model.gates["coder"] = anyio.Event()
    async with house(tmp_path, model) as at:
        await at.room.post("Go.", client_id="c1")
        await model.asks("coder")
        await at.room.stop()
        assert (plan_at(at).row.state, board(at)) == ("stopped", ["pending", "pending"])
        model.gates["coder"].set()
        await at.room.resume()
        await at.quiet()
        assert board(at) == ["done", "done"]


async def test_two_steps_of_a_diamond_overlap_and_the_join_comes_once(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            set_plan(
                step(1, "coder"),
                step(2, "writer", wait_for=[1]),
                step(3, "analyst", wait_for=[1]),
                step(4, "coder", wait_for=[2, 3]),
            )
        ],
        coder=[say("One."), say("Four.")],
        writer=[say("Two.")],
        analyst=[say("Three.")],
    )
    gate = model.gates["writer"] = model.gates["analyst"] = anyio.Event()
    async with house(tmp_path, model) as at:
        set_setting(at.store, "plan.parallel", "2")
        await at.room.post("Go.", client_id="c1")
        await model.asks("writer")
        await model.asks("analyst")
        assert board(at) == ["done", "in_progress", "in_progress", "pending"]
        gate.set()
        await at.quiet()
        assert board(at) == ["done"] * 4
        assert len(model.asked["coder"]) == 2


async def test_tasks_of_a_plan_stand_in_the_list_of_tasks(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder"))], coder=[say("One.")])
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        assert [
            (row.kind, row.member, row.job, row.state) for row in tasks.list_tasks(at.store, at.room.id)
        ] == [("plan", "coder", "Part 1", "done")]


async def test_commander_knows_its_plan_word_for_word_when_its_history_was_summed_up(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(step(1, "coder", "Count."), step(2, "user", "Which colour?"))]
        + [say("Read.")] * 3,
        coder=[say("Two.")],
        summary=[say("## Goal\nSomething.")],
    )
    async with house(tmp_path, model) as at:
        await at.say("Go.")
        assert board(at) == ["done", "blocked"]
        for _ in range(3):
            await at.say("All of it: " + "a word and another " * 2_000)
        assert model.asked["summary"]
        told = heard(model.asked["commander"][-1])
        assert (
            '1. done: {"index": 1, "title": "Part 1", "assignee": "coder", "input": "Count.", "wait_for": []}'
            in told
        )
        assert '2. waits for the user: {"index": 2, "title": "Part 2", "assignee": "user"' in told
