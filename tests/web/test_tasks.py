"""The list of tasks and the page of one: how it stands, what its member did, Stop, and Retry."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.scripted import call, say
from app.workspace import tasks
from tests.group_chat.teams import TeamModel, dispatch
from tests.web.live_page import LivePage
from tests.web.readers import Reader, address_of, expect_same
from tests.web.test_team_page import log_of, post, quiet, team

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def shown(page: LivePage, id: str) -> str:
    return " ".join(page.element(id).text.split())


async def test_tasks_stand_below_the_turn_that_gave_them_with_what_came_of_each(tmp_path: Path) -> None:
    jobs = dispatch(("coder", "Count the files."), ("writer", "Tell it."))
    worker = call("run_worker", "w1", 2, task="Look around.")
    model = TeamModel(
        commander=[[*jobs, worker], say("Some of it.")],
        coder=[[ProviderError("auth", "The key was refused.")]],
        writer=[say("Told.")],
        worker=[say("Nothing there.")],
    )
    model.gates = {"writer": anyio.Event()}
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Three jobs.")
        await model.asks("writer")
        await reader.catch_up()
        by_member = {row.member: row.id for row in tasks.list_tasks(room.board.store, room.id)}
        assert "running" in shown(reader.page, by_member["writer"])
        assert "Stop" in shown(reader.page, by_member["writer"])
        model.gates["writer"].set()
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert "Told." in shown(page, by_member["writer"])
        assert "done" in shown(page, by_member["writer"])
        assert "Coder did not finish it: The key was refused." in shown(page, by_member["coder"])
        assert "Retry" in shown(page, by_member["coder"])
        assert "Nothing there." in shown(page, by_member["worker"])
        assert "tokens" in shown(page, by_member["worker"])
        (picture,) = [
            each
            for each in page.document.walk()
            if each.tag == "svg" and each.attributes.get("role") == "img"
        ]
        assert "Writer" in picture.attributes["aria-label"]


async def test_the_page_of_a_task_has_all_that_its_member_heard_said_and_did(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[[call("run_worker", "w1", task="Look around.\nThen say it.")], say("Good."), say("Yes.")],
        worker=[[*say("I look."), call("list_files", "l1", path=".")], say("Nothing there.")],
    )
    async with team(tmp_path, model) as (opened, room):
        await room.post("Have it looked at.", client_id="c1")
        await quiet(room)
        (row,) = tasks.list_tasks(room.board.store, room.id)
        got = await opened.browser.get(f"{address_of(room)}/tasks/{row.id}")
        text = " ".join(LivePage.parsed(got.text).text.split())
        for words in ("Look around. Then say it.", "I look.", "→ list .", "Result of list", "Nothing there."):
            assert words in text
        assert "Good." not in text
        assert (await opened.browser.get(f"{address_of(room)}/tasks/task_unknown")).status == 404
        other = opened.conversation()
        assert (await opened.browser.get(f"{address_of(other)}/tasks/{row.id}")).status == 404


async def test_a_task_is_tried_again_from_its_row_and_from_the_error_in_the_chat(tmp_path: Path) -> None:
    refused = [ProviderError("auth", "The key was refused.")]
    model = TeamModel(
        commander=[dispatch(("coder", "Count the files.")), say("It failed.")],
        coder=[refused, refused, say("Two.")],
    )
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Count.")
        await quiet(room)
        (first,) = tasks.list_tasks(room.board.store, room.id)
        page = await expect_same(opened, room, reader)
        (form,) = [
            each.attributes["action"]
            for each in page.element("log").all("form")
            if "retry" in each.attributes["action"]
        ]
        assert any("Coder: The key was refused" in each.text for each in page.articles)
        assert form == f"{address_of(room)}/tasks/{first.id}/retry"
        await post(opened, room, form.removeprefix(f"{address_of(room)}/"))
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert log_of(page)[-2][2].startswith("You asked Coder to try again: Count the files.")
        second = tasks.list_tasks(room.board.store, room.id)[1]
        await post(opened, room, f"tasks/{second.id}/retry", model="")
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert log_of(page)[-1] == ("assistant", "coder", "Coder Two.")
        assert "retry" not in "".join(each.attributes["action"] for each in page.element("log").all("form"))
        got = await opened.browser.post(
            f"{address_of(room)}/tasks/{tasks.list_tasks(room.board.store, room.id)[2].id}/retry", {}
        )
        assert "there is nothing to try again" in got.text
