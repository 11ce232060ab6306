"""After a crash in the middle of three jobs: one is done, one is at work, one waits for its turn."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.scripted import call, say
from app.workspace import tasks
from tests.group_chat.rooms import House, house
from tests.group_chat.teams import TeamModel, dispatch, heard
from tests.group_chat.test_recovery import crash

pytestmark = pytest.mark.anyio


class Left(NamedTuple):
    folder: Path
    conversation: str


def states(at: House) -> list[tuple[str, str]]:
    return [(row.member, row.state) for row in tasks.list_tasks(at.store, at.room.id)]


async def until(at: House, state: tuple[str, str]) -> None:
    came = anyio.Event()
    unwatch = at.room.feed.watch(lambda: came.set() if state in states(at) else None)
    with anyio.fail_after(10):
        await came.wait()
    unwatch()


async def cut_off(tmp_path: Path) -> Left:
    jobs = [("coder", "One."), ("coder", "Two."), ("writer", "Three.")]
    writing = [*say("I begin."), call("write_file", "f1", path="one.txt", content="1")]
    model = TeamModel(commander=[dispatch(*jobs)], coder=[writing, say("never said")], writer=[say("three")])
    model.gates["coder"] = anyio.Event()
    async with house(tmp_path, model) as at:
        await at.room.post("Do three things.", client_id="c1")
        await until(at, ("writer", "done"))
        model.gates["coder"].set()
        await model.asks("coder", 2)
        assert states(at) == [("coder", "running"), ("coder", "queued"), ("writer", "done")]
        return Left(crash(at, tmp_path), at.room.id)


async def test_continue_does_all_of_them_and_tells_what_came_of_each(tmp_path: Path) -> None:
    left = await cut_off(tmp_path)
    again = TeamModel(commander=[say("All done.")], coder=[say("one is written"), say("two")])
    async with house(left.folder, again, conversation=left.conversation) as after:
        assert states(after) == [("coder", "interrupted"), ("coder", "interrupted"), ("writer", "done")]
        await after.room.resume()
        await after.quiet()
        assert [state for _, state in states(after)] == ["done", "done", "done"]
        told = heard(again.asked["commander"][0])
        assert [word in told for word in ("one is written", "\ntwo", "\nthree")] == [True] * 3
        assert (tmp_path / "work" / "one.txt").read_text() == "1"


async def test_who_was_at_work_goes_on_and_who_was_not_gets_the_job(tmp_path: Path) -> None:
    left = await cut_off(tmp_path)
    again = TeamModel(commander=[say("All done.")], coder=[say("one is written"), say("two")])
    async with house(left.folder, again, conversation=left.conversation) as after:
        await after.room.resume()
        await after.quiet()
        first, second = (heard(request) for request in again.asked["coder"])
        assert first.count("One.") == 1
        assert first.rstrip().endswith("check before repeating it.")
        assert second.count("Two.") == 1
        assert second.index("Do three things.") < second.rindex("Two.")


async def test_who_says_something_else_has_only_the_results_told(tmp_path: Path) -> None:
    left = await cut_off(tmp_path)
    again = TeamModel(commander=[say("I see."), say("Nothing new.")])
    async with house(left.folder, again, conversation=left.conversation) as after:
        await after.say("What is there?")
        told = heard(again.asked["commander"][0])
        assert "[Writer has done it, in 1 steps.]\nthree" in told
        assert told.endswith("What is there?")
        assert "coder" not in again.asked
        await after.say("And now?")
        assert heard(again.asked["commander"][1]).count("has done it") == 1


async def test_a_stop_while_they_are_taken_up_ends_those_that_wait_too(tmp_path: Path) -> None:
    left = await cut_off(tmp_path)
    again = TeamModel(coder=[say("one is written"), say("two")])
    again.gates = {"coder": anyio.Event()}
    async with house(left.folder, again, conversation=left.conversation) as after:
        await after.room.resume()
        await again.asks("coder")
        await after.room.stop()
        assert after.room.at_work == ()
        assert not [state for _, state in states(after) if state in ("running", "queued")]
        assert len(again.asked["coder"]) == 1


class TestCalled:
    """Two were called in one message, and the first of them was cut off."""

    def answers(self, at: House) -> list[tuple[str, str]]:
        return [(row.member, row.text) for row in at.rows() if row.kind == "assistant"]

    async def test_after_a_crash_the_second_answers_too(self, tmp_path: Path) -> None:
        model = TeamModel(coder=[say("never said")])
        model.gates["coder"] = anyio.Event()
        async with house(tmp_path, model) as at:
            await at.room.post("@Coder @Writer who is there?", client_id="c1")
            await model.asks("coder")
            left = Left(crash(at, tmp_path), at.room.id)
        again = TeamModel(coder=[say("Coder.")], writer=[say("Writer.")])
        async with house(left.folder, again, conversation=left.conversation) as after:
            await after.room.resume()
            await after.quiet()
            assert self.answers(after) == [("coder", "Coder."), ("writer", "Writer.")]
            assert "who is there?" in heard(again.asked["writer"][0])
            assert "Go on from where" not in heard(again.asked["writer"][0])

    async def test_after_a_failure_and_retry_the_second_answers_too_and_only_once(
        self, tmp_path: Path
    ) -> None:
        refused = ProviderError("auth", "The key was refused.")
        model = TeamModel(
            coder=[[refused], say("Coder.")],
            writer=[say("Writer.")],
            commander=[[refused], say("Commander.")],
        )
        async with house(tmp_path, model) as at:
            await at.say("@Coder @Writer who is there?")
            assert self.answers(at) == []
            await at.room.resume()
            await at.quiet()
            await at.say("And else?")
            await at.room.resume()
            await at.quiet()
            assert self.answers(at) == [
                ("coder", "Coder."),
                ("writer", "Writer."),
                ("commander", "Commander."),
            ]
