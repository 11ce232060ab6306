"""A turn in trouble: whatever breaks, it ends in words, loses none, and takes nobody with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.messages import Marker
from app.engine.provider import TextChunk
from app.engine.scripted import ScriptedModel, say
from app.engine.session import JsonlSession
from app.group_chat.members import Members
from app.workspace import conversations, turns
from app.workspace.rows import SessionRow
from tests.group_chat.rooms import house
from tests.group_chat.test_live_turns import done_of
from tests.group_chat.test_room import Held, until_speaking

pytestmark = pytest.mark.anyio


async def test_a_folder_that_the_system_refuses_is_said_and_takes_nobody_with_it(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Fine."))) as at:
        conversations.choose_workspace(at.store, at.room.id, "/" + "x" * 5000)
        await at.say("hello")
        assert at.rows()[-1].kind == "error"
        assert "x" * 50 in at.rows()[-1].text
        conversations.choose_workspace(at.store, at.room.id, str(at.workspace))
        await at.room.resume()
        await at.quiet()
        assert at.rows()[-1].text == "Fine."


async def test_a_transcript_that_cannot_be_read_is_said_and_retry_works_once_it_can(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("One."), say("Two."))) as at:
        await at.say("hello")
        (file,) = at.folder.sessions.glob("*.jsonl")
        away = file.rename(tmp_path / "away")
        file.mkdir()
        await at.say("again")
        assert at.rows()[-1].data["kind"] == "storage"
        assert "there is a folder of that name. Move it away and try again" in at.rows()[-1].text
        file.rmdir()
        away.rename(file)
        await at.room.resume()
        await at.quiet()
        assert at.rows()[-1].text == "Two."
        heard = [message.text for message in (await at.session()).messages]
        assert heard == ["hello", "One.", "again", "Two."]


async def test_a_turn_ends_once_although_its_session_is_gone_from_the_store(tmp_path: Path) -> None:
    model = Held(say("One", " two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.store.database._sqlite.sql("DELETE FROM sessions")
        model.go.set()
        await at.quiet()
        assert [done.status for done in done_of(at)] == ["completed"]
        assert [turn.state for turn in turns.list_turns(at.store, at.room.id)] == ["completed"]


async def test_a_stop_before_the_turn_has_taken_its_first_step_ends_it_even_where_it_hangs(
    tmp_path: Path,
) -> None:
    class Stuck(Members):
        async def open_session(self, row: SessionRow) -> JsonlSession:
            await anyio.sleep_forever()
            raise AssertionError

    async with house(tmp_path, ScriptedModel(), make_members=Stuck) as at:
        await at.room.post("hello", client_id="c1")
        with anyio.fail_after(4):
            await at.room.stop()
        assert [turn.state for turn in turns.list_turns(at.store, at.room.id)] == ["aborted"]


async def test_what_a_broken_turn_had_said_is_known_to_the_next_one(tmp_path: Path) -> None:
    class Broken(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            if not self.requests:
                self.requests.append(request)
                yield (TextChunk("I was saying"),)
                raise ZeroDivisionError
            async for batch in super().stream(request):
                yield batch

    model = Broken(say(" it works."))
    async with house(tmp_path, model) as at:
        await at.say("hello")
        await at.room.resume()
        await at.quiet()
        assert [message.text for message in model.requests[1].messages] == ["hello", "I was saying"]
        assert model.requests[1].messages[1].blocks[-1] == Marker("interrupted")


# The list of those that wait
