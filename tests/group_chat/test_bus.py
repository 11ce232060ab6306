"""All rooms of a process: found, kept, recovered, stopped."""

from __future__ import annotations

import gc
from pathlib import Path

import anyio
import pytest

from app.engine.scripted import ScriptedModel, say
from app.group_chat.bus import ROOMS_KEPT
from app.workspace import conversations
from app.workspace.errors import NotFound
from tests.group_chat.rooms import house
from tests.group_chat.test_room import Held, until_speaking

pytestmark = pytest.mark.anyio


async def test_a_conversation_has_one_room(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as at:
        assert at.bus.room(at.room.id) is at.room


async def test_a_room_of_nothing_is_refused_in_words(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as at:
        with pytest.raises(NotFound, match="no conversation"):
            at.bus.room("conv_nowhere")
        conversations.delete(at.store, at.room.id)
        with pytest.raises(NotFound, match="deleted"):
            at.bus.room(at.room.id)


async def test_the_desk_hears_when_a_turn_begins_and_ends(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Hi."))) as at:
        before = at.bus.desk.number
        await at.say("hello")
        heard = at.bus.desk.since(before) or []
        assert len(heard) >= 2
        assert {event.conversation for _, event in heard} == {at.room.id}


async def test_a_live_room_is_listed_while_it_is_live(tmp_path: Path) -> None:
    model = Held(say("a", "b"))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        assert at.bus.live_rooms() == [at.room]
        await at.room.stop()
        assert at.bus.live_rooms() == []


async def test_the_end_of_the_process_stops_every_run(tmp_path: Path) -> None:
    model = Held(say("a", "b"))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        with anyio.fail_after(5):
            await at.bus.stop_all()
        assert not at.room.floor.is_live
        assert at.rows()[-1].data["notice"] == "interrupted"


async def test_rooms_stay_in_memory_for_a_while_after_their_last_use(tmp_path: Path) -> None:
    """A page that comes back soon finds its place in the stream; what is used again and again crowds nobody out."""
    async with house(tmp_path, ScriptedModel()) as at:

        def new() -> str:
            return conversations.create_conversation(at.store, workspace="").id

        first, second = new(), new()
        kept = at.bus.room(first).feed.boot
        for _ in range(ROOMS_KEPT):
            at.bus.room(second)
            at.bus.room(at.room.id)
        assert at.bus.room(first).feed.boot == kept
        for _ in range(ROOMS_KEPT):
            at.bus.room(new())
        gc.collect()
        assert at.bus.room(first).feed.boot != kept
