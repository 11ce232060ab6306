"""Playbooks on their pages: saved from a plan, asked for what is missing, run, changed, taken along and over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.engine.scripted import say
from app.workspace import conversations, plans
from tests.group_chat.plans import set_plan, step
from tests.group_chat.teams import TeamModel, heard
from tests.web.asgi import Got, ask
from tests.web.pages import HOST, SAME, Open
from tests.web.test_team_page import post, quiet, team
from tests.web.tree import read_tree

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


FORM = {
    "do": "save",
    "name": "Release notes",
    "description": "What is new.",
    "steps": "2",
    "step-1-title": "Write",
    "step-1-assignee": "writer",
    "step-1-input": "Notes of {{version}}.",
    "step-1-on_failure": "ask_commander",
    "step-2-title": "Check",
    "step-2-assignee": "coder",
    "step-2-input": "{{step_1.output_summary}}",
    "step-2-after": "1",
    "step-2-on_failure": "continue",
    "parameter": "version",
    "label-version": "Which version?",
    "default-version": "1.0",
}


def field(text: str, name: str) -> dict[str, str]:
    """The attributes of a field on a page."""
    root = read_tree(text)
    return next(each.attributes for each in root.walk() if each.attributes.get("name") == name)


async def seen(opened: Open) -> str:
    return field((await opened.browser.get("/playbooks/release-notes")).text, "seen")["value"]


async def test_a_playbook_is_made_with_a_form_and_changed_with_it(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        assert "New playbook" in (await opened.browser.get("/new-playbook")).text
        got = await opened.browser.post("/new-playbook", FORM)
        assert (got.status, got.header("location")) == (303, "/playbooks/release-notes?saved")
        kept = json.loads((await opened.browser.get("/playbook-files/release-notes")).text)
        assert kept == {
            "name": "Release notes",
            "description": "What is new.",
            "parameters": [{"name": "version", "label": "Which version?", "default": "1.0"}],
            "steps": [
                {
                    "index": 1,
                    "title": "Write",
                    "assignee": "writer",
                    "input": "Notes of {{version}}.",
                    "wait_for": [],
                    "on_failure": "ask_commander",
                },
                {
                    "index": 2,
                    "title": "Check",
                    "assignee": "coder",
                    "input": "{{step_1.output_summary}}",
                    "wait_for": [1],
                    "on_failure": "continue",
                },
            ],
        }
        page = (await opened.browser.get("/playbooks/release-notes")).text
        assert field(page, "hole-version")["value"] == "1.0"
        assert "Which version?" in page
        changed = {**FORM, "name": "New", "seen": await seen(opened)}
        assert (await opened.browser.post("/playbooks/release-notes/edit", changed)).status == 303
        assert "New" in (await opened.browser.get("/playbooks")).text
        gone = await opened.browser.post("/playbooks/release-notes/remove", {})
        assert (await opened.browser.get("/playbooks/release-notes")).status == 404
        assert "/playbooks/release-notes/restore" in (await opened.browser.follow(gone)).text
        assert (await opened.browser.post("/playbooks/release-notes/restore", {})).status == 303
        assert (await opened.browser.get("/playbooks/release-notes")).status == 200


@pytest.mark.parametrize(
    ("wrong", "name", "words"),
    [
        ({"name": " "}, "name", "Give it a name."),
        ({"step-1-title": ""}, "step-1-title", "Step 1 needs a title."),
        ({"step-2-assignee": "nobody <b>"}, "step-2-assignee", "It can be one of:"),
        ({"step-2-after": "1, soon"}, "step-2-after", "which does not exist"),
        ({"step-1-input": "{{step_2.output_summary}}"}, "step-1-input", "which comes later"),
    ],
)
async def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(
    tmp_path: Path, wrong: dict[str, str], name: str, words: str
) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        got = await opened.browser.post("/new-playbook", {**FORM, **wrong})
        assert (got.status, "nobody <b>" in got.text) == (422, False)
        invalid = field(got.text, name)
        assert invalid["aria-invalid"] == "true"
        note = next(
            one
            for one in read_tree(got.text).walk()
            if one.attributes.get("id") == invalid["aria-describedby"]
        )
        assert words in note.text
        assert field(got.text, "label-version")["value"] == "Which version?"
        assert not list(opened.site.folder.playbooks.glob("*"))


async def test_steps_are_added_moved_and_removed_on_the_page_and_nothing_is_stored_by_it(
    tmp_path: Path,
) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        added = (await opened.browser.post("/new-playbook", {**FORM, "do": "add"})).text
        assert (field(added, "steps")["value"], field(added, "step-3-after")["value"]) == ("3", "2")
        assert "autofocus" in field(added, "step-3-title")
        moved = (await opened.browser.post("/new-playbook", {**FORM, "do": "up-2"})).text
        assert [field(moved, f"step-{index}-title")["value"] for index in (1, 2)] == ["Check", "Write"]
        fewer = (await opened.browser.post("/new-playbook", {**FORM, "do": "remove-1"})).text
        assert (field(fewer, "steps")["value"], field(fewer, "step-1-title")["value"]) == ("1", "Check")
        assert (await opened.browser.post("/new-playbook", {**FORM, "do": "dance"})).status == 404
        assert not list(opened.site.folder.playbooks.glob("*"))


async def test_a_playbook_that_was_changed_elsewhere_is_not_saved_over_without_a_word(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        keep(opened)
        before = await seen(opened)
        other = {**FORM, "seen": before, "name": "Theirs"}
        assert (await opened.browser.post("/playbooks/release-notes/edit", other)).status == 303
        mine = {**FORM, "seen": before, "name": "Mine"}
        got = await opened.browser.post("/playbooks/release-notes/edit", mine)
        assert (got.status, field(got.text, "name")["value"]) == (409, "Mine")
        again = {**mine, "seen": field(got.text, "seen")["value"]}
        assert (await opened.browser.post("/playbooks/release-notes/edit", again)).status == 303


async def test_a_playbook_that_cannot_run_any_more_says_why_and_makes_no_conversation(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        steps = [{"index": 1, "title": "Write", "assignee": "gone"}]
        (opened.site.folder.playbooks / "old.json").write_text(json.dumps({"name": "Old", "steps": steps}))
        before = len(conversations.list_recent(opened.bench.store))
        got = await opened.browser.post("/playbooks/old/run", {"conversation": ""})
        assert (got.status, "It cannot run as it is. Step 1 is given to" in got.text) == (422, True)
        assert len(conversations.list_recent(opened.bench.store)) == before


async def take_over(opened: Open, steps: list[dict[str, object]]) -> Got:
    given = json.dumps({"name": "Theirs", "steps": steps})
    part = (
        f'--b\r\nContent-Disposition: form-data; name="file"; filename="x.json"\r\n\r\n{given}\r\n--b--\r\n'
    )
    headers = [HOST, opened.browser.cookie, SAME, ("content-type", "multipart/form-data; boundary=b")]
    return await ask(opened.browser.app, "POST", "/playbooks", headers, body=[part.encode()])


async def test_a_file_of_others_is_put_right_in_the_form_before_it_is_kept(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        got = await take_over(opened, [{"index": 1, "title": "Write", "assignee": "their-writer"}])
        assert (got.status, field(got.text, "step-1-assignee")["aria-invalid"]) == (422, "true")
        assert field(got.text, "name")["value"] == "Theirs"
        assert not list(opened.site.folder.playbooks.glob("*"))
        got = await take_over(opened, [{"index": 7, "title": "Write", "assignee": "writer"}])
        assert (got.status, "Number the steps from 1 to 1" in got.text) == (422, True)
        got = await take_over(opened, [{"index": 1, "title": "Write", "assignee": "writer"}])
        assert (got.status, got.header("location")) == (303, "/playbooks/theirs?saved")


async def test_a_file_that_is_none_is_refused_where_it_was_chosen(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        got = await opened.browser.post("/playbooks", {})
        assert (got.status, "Choose the file of a playbook" in got.text) == (422, True)


async def test_a_file_that_was_broken_by_hand_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, _):
        (opened.site.folder.playbooks / "broken.json").write_text("{")
        got = await opened.browser.get("/playbooks/broken")
        assert (got.status, "cannot be read as JSON" in got.text) == (422, True)
