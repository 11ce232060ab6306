"""Several members in one conversation, as its page shows them: live as it is loaded, and what can be done there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.scripted import Reply, call, say
from app.group_chat.room import Room
from tests.group_chat.teams import TeamModel, dispatch, heard
from tests.web.live_page import LivePage
from tests.web.pages import HTMX, Open, open_page
from tests.web.readers import Reader, address_of, expect_same

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def team(tmp_path: Path, model: TeamModel) -> AsyncIterator[tuple[Open, Room]]:
    async with open_page(tmp_path, model=model) as opened:
        yield opened, opened.conversation()


async def post(opened: Open, room: Room, act: str, **fields: str) -> None:
    got = await opened.browser.post(f"{address_of(room)}/{act}", fields, HTMX)
    assert got.status == 204, got.text


async def quiet(room: Room) -> None:
    with anyio.fail_after(10):
        await room.wait_quiet()


async def left(room: Room, count: int) -> None:
    """Until so many are at work and no more, and everybody waits."""
    with anyio.fail_after(10):
        while len(room.at_work) > count:
            await anyio.wait_all_tasks_blocked()
    await anyio.wait_all_tasks_blocked()


def log_of(page: LivePage) -> list[tuple[str, str, str]]:
    """Kind, member and words of every article."""
    return [
        (
            each.attributes["data-kind"],
            each.attributes["data-member"],
            " ".join(each.text.split())[5:].strip(),
        )
        for each in page.articles
    ]


def floor_of(page: LivePage) -> str:
    return " ".join(page.element("floor").text.split())


def three() -> TeamModel:
    jobs = dispatch(
        ("researcher", "Find the limits."),
        ("coder", "Patch the client.\nThen test it."),
        ("writer", "Tell it."),
    )
    model = TeamModel(
        commander=[[*say("I send three."), *jobs], say("Two of three.")],
        researcher=[say("Sixty a minute.")],
        coder=[[ProviderError("auth", "The key was refused.")]],
        writer=[say("never said")],
    )
    model.gates = {name: anyio.Event() for name in ("researcher", "coder", "writer")}
    return model


async def test_three_at_once_one_fails_one_is_stopped_alone_and_a_loaded_page_shows_the_same(
    tmp_path: Path,
) -> None:
    model = three()
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Do three things.")
        for name in model.gates:
            await model.asks(name)
        page = await expect_same(opened, room, reader)
        assert [words for kind, _, words in log_of(page) if kind == "dispatch"] == [
            "Commander dispatched Researcher: Find the limits. Open the task",
            "and at the same time Coder: Patch the client.Patch the client. Then test it. Open the task",
            "and at the same time Writer: Tell it. Open the task",
        ]
        for name, job in (
            ("Researcher", "Find the limits."),
            ("Coder", "Patch the client."),
            ("Writer", "Tell it."),
        ):
            assert f"{name} is thinking {job}" in floor_of(page)
        assert "Commander waits for the others" in floor_of(page)
        writer = next(floor.turn for floor in room.at_work if floor.member == "writer")
        await post(opened, room, f"turns/{writer}/stop")
        await left(room, 3)
        await expect_same(opened, room, reader)
        model.gates["coder"].set()
        model.gates["researcher"].set()
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert floor_of(page) == ""
        assert ("assistant", "researcher") in [each[:2] for each in log_of(page)]
        assert log_of(page)[-1][:2] == ("assistant", "commander")


async def test_a_listener_hears_of_several_at_work_once_and_of_who_needs_them(tmp_path: Path) -> None:
    model = three()
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Do three things.")
        for name in model.gates:
            await model.asks(name)
        await reader.catch_up()
        assert reader.page.element("sr-status").text == "Commander, Researcher, Coder and Writer are at work."
        reader.page.element("sr-status").replace_children(["read out"])
        model.gates["researcher"].set()
        await left(room, 3)
        await reader.catch_up()
        assert reader.page.element("sr-status").text == "Commander, Coder and Writer are at work."


def lesson(*replies: Reply) -> TeamModel:
    hand_off = call("hand_off_to", "h1", to="tutor", message="A lesson with exercises.")
    return TeamModel(commander=[[hand_off], say("Welcome back.")], tutor=[say("First."), *replies])


async def test_a_guest_holds_the_floor_over_messages_and_reloads_until_it_hands_back(tmp_path: Path) -> None:
    back = call("hand_back", "b1", reason="The lesson is done.")
    model = lesson(*(say(f"Answer {number}.") for number in range(4)), [*say("Well done."), back])
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        assert reader.page.element("message").attributes["placeholder"] == "Message Commander"
        await post(opened, room, "messages", text="Teach me.")
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert floor_of(page).startswith("Tutor has the floor.")
        assert page.element("message").attributes["placeholder"] == "Message Tutor"
        assert "Commander handed the floor to Tutor: A lesson with exercises.Take back" in log_of(page)[1][2]
        for number in range(4):
            await post(opened, room, "messages", text=f"Question {number}?")
            await quiet(room)
            page = await expect_same(opened, room, reader)
            assert log_of(page)[-1] == ("assistant", "tutor", f"Tutor Answer {number}.")
            assert log_of(page)[-2][2].endswith("To Tutor")
        await post(opened, room, "messages", text="I am done.")
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert log_of(page)[-1][2] == "Tutor handed the floor back to Commander: The lesson is done."
        assert floor_of(page) == ""
        assert page.element("message").attributes["placeholder"] == "Message Commander"
        assert not any("Take back" in words for _, _, words in log_of(page))


async def test_the_user_takes_the_floor_back(tmp_path: Path) -> None:
    async with team(tmp_path, lesson()) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Teach me.")
        await quiet(room)
        await post(opened, room, "floor")
        page = await expect_same(opened, room, reader)
        assert floor_of(page) == ""
        assert log_of(page)[-1] == ("dispatch", "user", "You took the floor back from Tutor")
        await post(opened, room, "floor")
        assert len((await expect_same(opened, room, reader)).articles) == len(page.articles)
        assert not any("Take back" in words for _, _, words in log_of(page))
        await post(opened, room, "messages", text="Are you there?")
        await quiet(room)
        assert log_of(await expect_same(opened, room, reader))[-1][2] == "Commander Welcome back."


async def test_a_message_says_whom_it_goes_to_and_whom_nobody_knows(tmp_path: Path) -> None:
    model = TeamModel(coder=[say("Here.")], tutor=[say("Here too.")], commander=[say("And I.")])
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="@Coder @Tutor and @Bob, come.")
        await quiet(room)
        await post(opened, room, "messages", text="Hello")
        await quiet(room)
        said = [words for kind, _, words in log_of(await expect_same(opened, room, reader)) if kind == "user"]
        assert said == [
            "@Coder @Tutor and @Bob, come.To Coder and TutorNobody here is called @Bob.",
            "Hello",
        ]


async def test_a_member_that_answers_once_keeps_no_floor_and_offers_none_back(tmp_path: Path) -> None:
    hand_off = call("hand_off_to", "h1", to="coder", message="Say it yourself.")
    model = TeamModel(commander=[[hand_off]], coder=[say("Two files.")])
    async with team(tmp_path, model) as (opened, room):
        await room.post("How many?", client_id="c1")
        await quiet(room)
        page = await opened.browser.load(address_of(room))
        assert log_of(page)[1][2] == "Commander lets Coder answer you: Say it yourself."
        assert floor_of(page) == ""


async def test_while_several_work_a_message_steers_who_is_called_or_waits_for_them(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[
            dispatch(("coder", "Patch it."), ("writer", "Tell it.")),
            say("Both done."),
            say("Later."),
        ],
        coder=[[call("list_files", "l1", path=".")], say("Patched."), say("Good night.")],
        writer=[say("Told.")],
    )
    model.gates = {name: anyio.Event() for name in ("coder", "writer")}
    async with team(tmp_path, model) as (opened, room):
        reader = await Reader.loads(opened, room)
        await post(opened, room, "messages", text="Do both.")
        for name in model.gates:
            await model.asks(name)
        await post(opened, room, "steer", text="@Coder mind the limits")
        await post(opened, room, "messages", text="@Coder good night")
        page = await expect_same(opened, room, reader)
        waiting = [" ".join(item.text.split()) for item in page.element("queue").all("li")]
        assert "@Coder mind the limits To Codersteers" in waiting[0].replace("Coder steers", "Codersteers")
        assert "@Coder good night To Coder" in waiting[1]
        model.gates["coder"].set()
        await model.asks("coder", 2)
        assert "mind the limits" in heard(model.asked["coder"][1])
        model.gates["writer"].set()
        await quiet(room)
        page = await expect_same(opened, room, reader)
        assert log_of(page)[-1] == ("assistant", "coder", "Coder Good night.")
        assert page.element("queue").all("li") == []


async def test_who_can_be_called_is_new_on_an_open_page_when_agents_change(tmp_path: Path) -> None:
    async with team(tmp_path, TeamModel()) as (opened, room):
        reader = await Reader.loads(opened, room)
        assert reader.page.document.find("call-tutor") is not None
        await opened.browser.post("/agents/tutor/off")
        page = await expect_same(opened, room, reader)
        assert page.document.find("call-tutor") is None
        new = {"name": "Harbour Pilot", "description": "Knows the way in", "prompt": "You pilot."}
        await opened.browser.post("/agents", new)
        page = await expect_same(opened, room, reader)
        assert page.element("call-harbour-pilot").attributes["data-name"] == "Harbour Pilot"
