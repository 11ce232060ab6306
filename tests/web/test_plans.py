"""A plan on the page: live as it is loaded, and its board can be used."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from app.engine.scripted import say
from app.group_chat.plan_values import Plan
from app.group_chat.room import Room
from tests.group_chat.plans import REFUSED, set_plan, step
from tests.group_chat.teams import TeamModel
from tests.web.live_page import LivePage
from tests.web.pages import HTMX
from tests.web.readers import Reader, address_of, expect_same
from tests.web.test_team_page import post, quiet, team

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def steps_of(page: LivePage) -> list[str]:
    found = (each for each in page.element("panel-plan").walk() if "data-status" in each.attributes)
    return [each.attributes["data-status"] for each in found]


def board_of(page: LivePage) -> str:
    return " ".join(page.element("panel-plan").text.split())


async def test_a_plan_is_live_on_the_board_and_in_the_chat_and_a_loaded_page_shows_the_same(
    tmp_path: Path,
) -> None:
    steps = (
        step(1, "coder", "Count."),
        step(2, "writer", "Write.", wait_for=[1]),
        step(3, "user", "Which colour?", wait_for=[1]),
    )
    model = TeamModel(commander=[set_plan(*steps)], coder=[say("Two.")], writer=[say("A text.")])
    model.gates = {name: anyio.Event() for name in ("coder", "writer")}
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Go.")
        await model.asks("coder")
        page = await expect_same(opened, room, reader)
        assert "0 of 3 done" in board_of(page)
        await post(opened, room, "plan/parallel", steps="2")
        await expect_same(opened, room, reader)
        assert plan_at_room(room).parallel == 2
        assert steps_of(page) == ["in_progress", "pending", "pending"]
        model.gates["coder"].set()
        await model.asks("writer")
        await expect_same(opened, room, reader)
        model.gates["writer"].set()
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert "A step waits for your answer in the chat." in board_of(page)
        assert steps_of(page) == ["done", "done", "blocked"]
        (article,) = [each for each in page.articles if each.attributes["data-kind"] == "plan"]
        assert "2 done · 1 needs you" in " ".join(article.text.split())
        form = next(each.id for each in page.articles if each.attributes["data-kind"] == "form")
        await post(opened, room, f"forms/{form}", answer="Red.", action="send")
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert "3 of 3 done" in board_of(page)


async def test_steps_are_retried_skipped_and_changed_on_the_board_and_the_plan_stopped_and_continued(
    tmp_path: Path,
) -> None:
    steps = (step(1, "coder", on_failure="abort_plan"), step(2, "writer"), step(3, "writer", "Old."))
    model = TeamModel(commander=[set_plan(*steps)], coder=[[REFUSED], say("1"), say("1")], writer=[say("3")])
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Go.")
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert "ended by a failure" in board_of(page)
        model.gates["coder"] = anyio.Event()
        await post(opened, room, "plan/steps/1/retry")
        await model.asks("coder", 2)
        await post(opened, room, "plan/steps/2/skip")
        fields = {
            "title": "Newer",
            "assignee": "writer",
            "input": "New.",
            "on_failure": "continue",
            "after": "1",
        }
        await post(opened, room, "plan/steps/3/edit", **fields)
        page = await expect_same(opened, room, reader)
        assert "Writer · after 1 · if it fails: go on without it" in board_of(page)
        assert steps_of(page) == ["in_progress", "skipped", "pending"]
        await post(opened, room, "plan/stop")
        page = await expect_same(opened, room, reader)
        assert "Steps that ran begin anew" in board_of(page)
        model.gates["coder"].set()
        await post(opened, room, "plan/go-on")
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert [one.status for one in plan_at_room(room).steps] == ["done", "skipped", "done"]
        assert "2 of 3 done · 1 skipped" in board_of(page)


async def test_what_cannot_be_done_is_refused_in_words(tmp_path: Path) -> None:
    model = TeamModel(commander=[set_plan(step(1, "coder"))], coder=[say("1")])
    async with team(tmp_path, model) as (opened, room):
        await post(opened, room, "messages", text="Go.")
        await quiet(room)
        for act, words in (
            ("plan/steps/1/retry", "has not failed"),
            ("plan/steps/1/edit", "has begun or ended"),
            ("plan/steps/7/skip", "cannot be skipped"),
            ("plan/go-on", "goes on already, or has ended"),
            ("plan/parallel", "From 1 to 20 steps"),
        ):
            got = await opened.browser.post(f"{address_of(room)}/{act}", {"title": "x"}, HTMX)
            assert (got.status, words in got.text) == (409, True), got.text
        assert (await opened.browser.post(f"{address_of(room)}/plan/dance", {}, HTMX)).status == 404


def plan_at_room(room: Room) -> Plan:
    kept = room.planning.find()
    assert kept is not None
    return kept.plan
