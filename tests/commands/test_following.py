"""Following a room from outside: who is printed where, when it is over, and what comes last."""

from __future__ import annotations

import io
from pathlib import Path

import anyio
import pytest

from app.commands.event_lines import Told
from app.commands.following import Following
from app.commands.terminal import Terminal
from app.engine import events as engine
from app.engine.scripted import call, say
from app.group_chat.events import RoomEvent, TaskChanged
from tests.group_chat.rooms import house
from tests.group_chat.teams import TeamModel, dispatch

pytestmark = pytest.mark.anyio


class Heard:
    """A printer that keeps what it is given."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, Told]] = []
        self.asides: list[tuple[str, Told]] = []

    def take(self, place: RoomEvent, event: Told) -> None:
        self.taken.append((place.member, event))

    def aside(self, place: RoomEvent, event: Told) -> None:
        self.asides.append((place.member, event))


async def follow(tmp_path: Path, model: TeamModel) -> tuple[Heard, engine.Done]:
    heard, terminal = Heard(), Terminal(io.StringIO(), io.StringIO(), io.StringIO(), {}, lambda _: "")
    async with house(tmp_path, model) as at:
        start = at.room.feed.number
        await at.room.post("Go.", client_id="c1")
        with anyio.fail_after(10):
            done = await Following(at.room, at.store, heard, terminal, lambda _: None).follow(start)
        assert at.room.at_work == ()
    return heard, done


async def test_members_that_were_sent_are_printed_aside_and_their_tasks_too(tmp_path: Path) -> None:
    model = TeamModel(commander=[dispatch(("coder", "Patch it.")), say("Done.")], coder=[say("Patched.")])
    heard, done = await follow(tmp_path, model)
    assert {member for member, _ in heard.taken} == {"commander"}
    assert {member for member, _ in heard.asides} == {"coder"}
    states = [event.task.state for _, event in heard.asides if isinstance(event, TaskChanged)]
    assert states == ["queued", "running", "done"]
    assert heard.taken[-1][1] is done


async def test_whoever_answers_after_a_hand_off_is_printed_like_the_first_and_the_first_ends_it(
    tmp_path: Path,
) -> None:
    hand_off = call("hand_off_to", "h1", to="tutor", message="A lesson.")
    model = TeamModel(commander=[[hand_off]], tutor=[say("First lesson.")])
    heard, last = await follow(tmp_path, model)
    assert [member for member, event in heard.taken if isinstance(event, engine.Done)] == [
        "tutor",
        "commander",
    ]
    assert last.text == "First lesson."
    assert heard.asides == []
