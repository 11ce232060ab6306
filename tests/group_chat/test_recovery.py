"""After a crash: the data folder as it lay on the disk at the worst moment, opened again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.provider import CallFragment, TextChunk
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import JsonlSession
from app.group_chat.segments import SAVE_EVERY
from app.workspace import queue, turns
from tests.fakes.clock import FakeClock
from tests.group_chat.rooms import House, OnWrite, house, members_on
from tests.group_chat.teams import TeamModel, dispatch
from tests.group_chat.test_room import Held, until_speaking

pytestmark = pytest.mark.anyio


def crash(at: House, tmp_path: Path) -> Path:
    """What the disk holds right now, put into a folder of its own: the process is gone, this is left."""
    left = tmp_path / "after"
    shutil.copytree(at.folder.root, left / "data")
    shutil.copytree(at.workspace, left / "work")
    return left


async def resume(at: House) -> None:
    await at.room.resume()
    with anyio.fail_after(5):
        await at.room.wait_quiet()


async def transcript(at: House) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in (await at.session()).messages]


async def test_a_partial_answer_is_shown_as_interrupted_and_can_be_continued(tmp_path: Path) -> None:
    clock = FakeClock()

    class Slow(Held):
        """A second passes before the second piece, so that the first two are saved."""

        async def stream(self, request: Any) -> Any:
            yield (TextChunk("Once upon"),)
            await clock.sleep(SAVE_EVERY)
            yield (TextChunk(" a time"),)
            self.speaking.set()
            await self.go.wait()

    model = Slow()
    async with house(tmp_path, model, clock) as at:
        await until_speaking(at, model)
        left = crash(at, tmp_path)
    after = ScriptedModel(say(" there was."))
    async with house(left, after, clock, conversation=at.room.id) as again:
        assert again.shape() == [
            ("user", "done", "hello"),
            ("assistant", "interrupted", "Once upon a time"),
            ("notice", "done", "interrupted"),
        ]
        assert not again.room.floor.is_live
        await resume(again)
        assert again.rows()[-1].text == " there was."
        assert [message.role for message in after.requests[0].messages] == ["user", "assistant", "user"]
        assert "Once upon a time" in after.requests[0].messages[1].text


async def test_a_message_that_no_model_has_heard_yet_is_heard_after_the_restart(tmp_path: Path) -> None:
    model = Held(say("a", "b"))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        left = crash(at, tmp_path)
    session = next((left / "data" / "sessions").glob("*.jsonl"))
    session.write_bytes(b"")
    after = ScriptedModel(say("Hello."))
    async with house(left, after, conversation=at.room.id) as again:
        await resume(again)
        assert [message.text for message in after.requests[0].messages][:1] == ["hello"]
        assert [row.text for row in again.rows() if row.kind == "user"] == ["hello"]


async def test_a_change_that_was_running_is_of_unknown_outcome_and_is_not_run_again(tmp_path: Path) -> None:
    model = ScriptedModel([call("write_file", "c1", path="a.txt", content="x")], say("never"))
    left: list[Path] = []
    journal = OnWrite(b'"c1"]', lambda: left.append(crash(at, tmp_path)))
    async with house(tmp_path, model, make_members=members_on(journal)) as at:
        await at.say("write")
    after = ScriptedModel(say("I look first."))
    async with house(left[0], after, conversation=at.room.id) as again:
        assert again.rows()[1].state == "interrupted"
        await resume(again)
        results = [result for message in after.requests[0].messages for result in message.results]
        assert [(result.call_id, result.status) for result in results] == [("c1", "outcome_unknown")]
        assert not (again.workspace / "a.txt").exists()


async def test_an_answer_that_the_session_has_whole_is_taken_from_there(tmp_path: Path) -> None:
    left: list[Path] = []
    disk = OnWrite(b"All of it.", lambda: left.append(crash(at, tmp_path)))
    async with house(tmp_path, ScriptedModel(say("All ", "of it.")), make_members=members_on(disk)) as at:
        await at.say("hello")
    async with house(left[0], ScriptedModel(), conversation=at.room.id) as again:
        assert again.shape() == [
            ("user", "done", "hello"),
            ("assistant", "done", "All of it."),
            ("notice", "done", "interrupted"),
        ]


async def test_what_waited_in_the_queue_still_waits(tmp_path: Path) -> None:
    model = Held(say("a", "b"))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("later", client_id="c2")
        left = crash(at, tmp_path)
    async with house(left, ScriptedModel(say("x"), say("y")), conversation=at.room.id) as again:
        assert [row.text for row in queue.list_queued(again.store, again.room.id)] == ["later"]
        await resume(again)
        assert "later" in [row.text for row in again.rows() if row.kind == "user"]


async def test_recovering_twice_changes_nothing_more(tmp_path: Path) -> None:
    model = Held(say("a", "b"))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        left = crash(at, tmp_path)
    for _ in range(2):
        async with house(left, ScriptedModel(), conversation=at.room.id) as again:
            assert [turn.state for turn in turns.list_turns(again.store, again.room.id)] == ["interrupted"]
            assert [row.kind for row in again.rows()].count("notice") == 1
            told = await transcript(again)
    assert told == await transcript_of(left)


async def transcript_of(left: Path) -> list[tuple[str, str]]:
    session = await JsonlSession.open(next((left / "data" / "sessions").glob("*.jsonl")))
    return [(message.role, message.text) for message in session.messages]


async def test_words_before_a_call_that_was_still_arriving_are_known_after_the_restart(
    tmp_path: Path,
) -> None:
    """Their article was closed when the call began; the session gets an answer only as a whole."""

    class Calling(Held):
        async def stream(self, request: Any) -> Any:
            yield (TextChunk("I look."),)
            yield (CallFragment(0, "c1", "read_file", '{"pa'),)
            self.speaking.set()
            await self.go.wait()

    model = Calling()
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        left = crash(at, tmp_path)
    after = ScriptedModel(say("Where was I?"))
    async with house(left, after, conversation=at.room.id) as again:
        assert again.shape()[1:3] == [
            ("assistant", "done", "I look."),
            ("tool_call", "interrupted", "read_file"),
        ]
        await resume(again)
        assert [message.text for message in after.requests[0].messages][:2] == ["hello", "I look."]


async def test_a_message_that_was_heard_right_before_the_crash_waits_no_more(tmp_path: Path) -> None:
    """The session has it and the queue has it still: it was folded in, and not yet sent."""
    left: list[Path] = []
    disk = OnWrite(b"use metres", lambda: left.append(crash(at, tmp_path)))
    model = Held(say("One", "."), say("12 m."))
    async with house(tmp_path, model, make_members=members_on(disk)) as at:
        await until_speaking(at, model)
        await at.room.post("use metres", client_id="c2", kind="steer")
        model.go.set()
        await at.quiet()
    async with house(left[0], ScriptedModel(say("12 m.")), conversation=at.room.id) as again:
        assert queue.list_queued(again.store, again.room.id) == []
        assert [row.text for row in again.rows() if row.kind == "user"] == ["hello", "use metres"]
        await resume(again)
        heard = [message.text for message in (await again.session()).messages if message.role == "user"]
        assert heard.count("use metres") == 1


async def test_the_notice_of_a_turn_that_was_cut_off_names_the_jobs_that_were_cut_off_with_it(
    tmp_path: Path,
) -> None:
    jobs = dispatch(("coder", "Patch it."), ("writer", "Tell it."))
    model = TeamModel(commander=[jobs], coder=[say("never")], writer=[say("Told.")])
    model.gates = {"coder": anyio.Event()}
    async with house(tmp_path, model) as at:
        await at.room.post("Do both.", client_id="c1")
        await model.asks("coder")
        with anyio.fail_after(5):
            while len(at.room.at_work) > 2:
                await anyio.wait_all_tasks_blocked()
        left = crash(at, tmp_path)
    async with house(left, TeamModel(), conversation=at.room.id) as after:
        (notice,) = [row for row in after.rows() if row.data.get("notice") == "interrupted"]
        assert notice.data["jobs"] == [["coder", "Patch it."]]
