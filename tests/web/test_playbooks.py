"""Playbooks on their pages: saved from a plan, asked for what is missing, run, changed, taken along and over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.scripted import say
from app.workspace import conversations, plans
from tests.group_chat.plans import set_plan, step
from tests.group_chat.teams import TeamModel, heard
from tests.web.pages import Open
from tests.web.test_team_page import post, quiet, team

pytestmark = pytest.mark.anyio

NOTES = {
    "name": "Release notes",
    "steps": [{"index": 1, "title": "Write", "assignee": "writer", "input": "Notes of {{version}}."}],
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def keep(opened: Open) -> None:
    (opened.site.folder.playbooks / "release-notes.json").write_text(json.dumps(NOTES))


async def test_a_plan_is_saved_and_its_playbook_is_exported_as_it_is_imported(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder", "Count {{what}}."))], coder=[say("Two.")])
    async with team(tmp_path, model) as (opened, room):
        await post(opened, room, "messages", text="Go.")
        await quiet(room)
        row = plans.find_plan(opened.bench.store, room.id)
        assert row is not None
        got = await opened.browser.post("/playbooks", {"plan": row.id, "name": "Count things"})
        assert (got.status, got.header("location")) == (303, "/playbooks/count-things?saved")
        kept = json.loads((await opened.browser.get("/playbook-files/count-things")).text)
        assert kept["steps"] == [
            {
                "index": 1,
                "title": "Part 1",
                "assignee": "coder",
                "input": "Count {{what}}.",
                "wait_for": [],
                "on_failure": "ask_commander",
                "fields": [],
            }
        ]
        assert "asks for what" in (await opened.browser.get("/playbooks")).text


async def test_a_playbook_asks_for_what_is_missing_and_runs_in_a_new_conversation(tmp_path: Path) -> None:
    model = TeamModel(writer=[say("Written.")])
    async with team(tmp_path, model) as (opened, _):
        keep(opened)
        got = await opened.browser.post("/playbooks/release-notes/run", {"conversation": ""})
        assert (got.status, "Fill in all of what it asks for." in got.text) == (422, True)
        got = await opened.browser.post("/playbooks/release-notes/run", {"hole-version": "1.2"})
        assert got.status == 303
        newest = conversations.list_recent(opened.bench.store)[0]
        assert got.header("location") == f"/conversations/{newest.id}?tab=plan"
        room = opened.bench.bus.room(newest.id)
        await quiet(room)
        kept = room.planning.find()
        assert kept is not None
        assert (kept.row.title, kept.row.setter, kept.row.state) == ("Release notes", "user", "done")
        told = heard(model.asked["writer"][0])
        assert "Run the playbook “Release notes”.\nversion: 1.2" in told
        assert told.rstrip().endswith("Notes of 1.2.")
        assert [row.kind for row in room.list_messages()] == ["user", "plan", "dispatch", "assistant"]


async def test_a_playbook_runs_in_a_conversation_that_is_there(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel(writer=[say("Written.")])) as (opened, room):
        keep(opened)
        fields = {"hole-version": "1.2", "conversation": room.id}
        assert (await opened.browser.post("/playbooks/release-notes/run", fields)).status == 303
        await quiet(room)
        kept = room.planning.find()
        assert kept is not None
        assert kept.row.state == "done"


async def test_its_file_is_changed_refused_in_words_and_removed(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        keep(opened)
        wrong = {**NOTES, "steps": [{"index": 1, "title": "Write", "assignee": "nobody <b>"}]}
        got = await opened.browser.post("/playbooks/release-notes/save", {"text": json.dumps(wrong)})
        assert (got.status, "It can be one of:" in got.text, "nobody <b>" in got.text) == (422, True, False)
        got = await opened.browser.post(
            "/playbooks/release-notes/save", {"text": json.dumps({**NOTES, "name": "New"})}
        )
        assert got.status == 303
        assert "New" in (await opened.browser.get("/playbooks")).text
        assert (await opened.browser.post("/playbooks/release-notes/remove", {})).status == 303
        assert (await opened.browser.get("/playbooks/release-notes")).status == 404


async def test_a_file_that_is_none_is_refused_where_it_was_chosen(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        got = await opened.browser.post("/playbooks", {})
        assert (got.status, "Choose the file of a playbook" in got.text) == (422, True)


async def test_a_file_that_was_broken_by_hand_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        (opened.site.folder.playbooks / "broken.json").write_text("{")
        got = await opened.browser.get("/playbooks/broken")
        assert (got.status, "cannot be read as JSON" in got.text) == (422, True)
