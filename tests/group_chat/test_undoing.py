"""Undo in the room: real tools on a real folder, taken back to the byte, and nothing of the user's touched."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.deeds import Deed
from app.group_chat.errors import CannotUndo, RoomBusy
from app.group_chat.events import FilesChanged
from app.group_chat.undoing import Part
from app.hands.undo.tally import key_of
from app.workspace import conversations, steps
from app.workspace.errors import NotFound
from tests.group_chat.rooms import House, house
from tests.group_chat.test_recovery import crash
from tests.group_chat.test_room import Held, until_speaking
from tests.hands.undo.test_history import DIRTY
from tests.hands.undo.workshop import bash, picture_of

pytestmark = pytest.mark.anyio


def runs(command: str) -> list[Any]:
    return [call("bash", "c_1", command=command)]


def writes(path: str, content: str) -> list[Any]:
    return [call("write_file", f"w_{path}", path=path, content=content)]


async def allowing(at: House, text: str = "Do it.") -> None:
    """Send, and allow whatever asks, until all is quiet."""
    await at.room.post(text, client_id=f"said_{len(at.rows())}")
    async with anyio.create_task_group() as tasks:

        async def allow() -> None:
            async for _ in at.room.feed.follow(0):
                for row in at.rows():
                    if row.kind == "approval" and row.state == "streaming":
                        await at.room.decide(row.id, "allow_once")

        tasks.start_soon(allow)
        await at.quiet()
        tasks.cancel_scope.cancel()


def last(at: House) -> Deed:
    return at.room.undoing.deeds()[-1]


def paths(deed: Deed) -> list[str]:
    return [line.path for line in deed.tally.lines]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "git reset --hard",
        "git clean -fd",
        "sed -i s/alpha/omega/ src/*.py",
    ],
)
async def test_one_restore_brings_back_every_byte_of_a_dirty_tree(command: str, tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs(command), say("Done."))) as at:
        bash(DIRTY, at.workspace)
        before = picture_of(at.workspace, without=".git")
        await allowing(at)
        assert picture_of(at.workspace, without=".git") != before
        git = picture_of(at.workspace / ".git")
        done = await at.room.undoing.restore(Part(last(at).id))
        assert picture_of(at.workspace, without=".git") == before
        assert picture_of(at.workspace / ".git") == git
        assert done.outcome.left == ()


async def test_what_a_turn_changed_is_listed_with_its_lines(tmp_path: Path) -> None:
    model = ScriptedModel(
        writes("a.txt", "one\ntwo\n"), runs("echo three >> a.txt; mkdir empty"), say("Done.")
    )
    async with house(tmp_path, model) as at:
        await allowing(at)
        [deed] = at.room.undoing.deeds()
        assert [(line.path, line.kind, line.added) for line in deed.tally.lines] == [
            ("a.txt", "added", 3),
            ("empty", "added", None),
        ]
        assert [row.tool for row in deed.steps] == ["write_file", "bash"]
        assert [event.turn for event in at.happened() if isinstance(event.event, FilesChanged)] == [
            deed.id
        ] * 2


async def test_a_call_that_changes_nothing_is_no_deed(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs("ls"), say("Done."))) as at:
        await allowing(at)
        assert at.room.undoing.deeds() == ()
        assert steps.open_steps(at.store) == []


async def test_one_step_or_one_file_is_taken_back_alone(tmp_path: Path) -> None:
    model = ScriptedModel(writes("a.txt", "a\n"), runs("echo b > b.txt; echo c > c.txt"), say("Done."))
    async with house(tmp_path, model) as at:
        await allowing(at)
        turn = last(at)
        await at.room.undoing.restore(Part(turn.id, file=key_of("b.txt")))
        assert sorted(path.name for path in at.workspace.iterdir()) == ["a.txt", "c.txt"]
        await at.room.undoing.restore(Part(turn.id, step=turn.steps[0].id))
        assert [path.name for path in at.workspace.iterdir()] == ["c.txt"]


async def test_what_the_user_changed_since_stays(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    model = ScriptedModel(runs("sed -i '2s/.*/theirs/' a.txt; echo x > new"), say("Done."))
    async with house(tmp_path, model) as at:
        (at.workspace / "a.txt").write_text(text)
        await allowing(at)
        (at.workspace / "a.txt").write_text((at.workspace / "a.txt").read_text() + "mine\n")
        (at.workspace / "other.txt").write_text("mine too")
        await at.room.undoing.restore(Part(last(at).id))
        assert (at.workspace / "a.txt").read_text() == text + "mine\n"
        assert sorted(path.name for path in at.workspace.iterdir()) == ["a.txt", "other.txt"]


@pytest.mark.parametrize(("choice", "comes"), [("mine", "mine\n"), ("before", "before\n")])
async def test_a_conflict_asks_first_and_does_nothing_until_it_is_answered(
    choice: Any, comes: str, tmp_path: Path
) -> None:
    async with house(tmp_path, ScriptedModel(runs("echo theirs > a.txt; echo x > new"), say("Done."))) as at:
        (at.workspace / "a.txt").write_text("before\n")
        await allowing(at)
        (at.workspace / "a.txt").write_text("mine\n")
        turn = last(at)
        asked = await at.room.undoing.restore(Part(turn.id))
        assert ([one.path for one in asked.outcome.conflicts], asked.deed) == (["a.txt"], "")
        assert (at.workspace / "a.txt").read_text() == "mine\n"
        assert (at.workspace / "new").exists()
        await at.room.undoing.restore(Part(turn.id), {key_of("a.txt"): choice})
        assert (at.workspace / "a.txt").read_text() == comes
        assert not (at.workspace / "new").exists()


async def test_a_restore_is_a_deed_that_can_be_taken_back_and_is_told_in_the_chat(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs("rm -rf src"), say("Done."))) as at:
        bash(DIRTY, at.workspace)
        await allowing(at)
        after = picture_of(at.workspace)
        done = await at.room.undoing.restore(Part(last(at).id))
        assert last(at).id == done.deed
        assert last(at).is_restore
        notice = at.rows()[-1]
        assert (notice.kind, notice.data["notice"], notice.data["deed"]) == ("notice", "restored", done.deed)
        await at.room.undoing.restore(Part(done.deed))
        assert picture_of(at.workspace) == after


async def test_there_is_nothing_to_bring_back_twice(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs("echo x > new"), say("Done."))) as at:
        await allowing(at)
        turn = last(at)
        await at.room.undoing.restore(Part(turn.id))
        with pytest.raises(CannotUndo, match="nothing to bring back"):
            await at.room.undoing.restore(Part(turn.id))


async def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs("echo x > new"), say("Done."))) as at:
        await allowing(at)
        for part in (Part("turn_none"), Part(last(at).id, "step_none"), Part(last(at).id, file="none")):
            with pytest.raises(NotFound):
                await at.room.undoing.restore(part)


async def test_what_has_been_given_up_says_so(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs("echo x > new"), say("Done."))) as at:
        await allowing(at)
        shutil.rmtree(at.folder.snapshots)
        with pytest.raises(CannotUndo, match="not kept any more"):
            await at.room.undoing.restore(Part(last(at).id))
        assert paths(last(at)) == ["new"]


async def test_while_a_turn_runs_nothing_is_restored(tmp_path: Path) -> None:
    model = Held(runs("echo x > new"), say("Done."), say("Good ", "day."))
    model.go.set()
    async with house(tmp_path, model) as at:
        await allowing(at)
        model.go, model.speaking = anyio.Event(), anyio.Event()
        await until_speaking(at, model)
        with pytest.raises(RoomBusy, match="Stop it or wait"):
            await at.room.undoing.restore(Part(last(at).id))
        assert (at.workspace / "new").exists()
        model.go.set()
        await at.quiet()


async def test_a_turn_of_another_conversation_in_the_same_folder_is_waited_for(tmp_path: Path) -> None:
    model = Held(runs("echo x > new"), say("Done."), say("Good ", "day."))
    model.go.set()
    async with house(tmp_path, model) as at:
        await allowing(at)
        (at.workspace / "inside").mkdir()
        inside = conversations.create_conversation(at.store, workspace=str(at.workspace / "inside"))
        other = at.bus.room(inside.id)
        model.go, model.speaking = anyio.Event(), anyio.Event()
        await other.post("A neighbour", client_id="c1")
        await model.speaking.wait()
        with pytest.raises(RoomBusy, match="“A neighbour” is at work in this folder"):
            await at.room.undoing.restore(Part(last(at).id))
        model.go.set()
        with anyio.fail_after(5):
            await other.wait_quiet()
        await at.room.undoing.restore(Part(last(at).id))
        assert not (at.workspace / "new").exists()


async def test_a_crash_between_the_two_looks_is_looked_at_when_plancia_starts_again(tmp_path: Path) -> None:
    command = "rm keep.txt; touch begun; sleep 60"
    async with house(tmp_path, ScriptedModel(runs(command))) as at:
        (at.workspace / "keep.txt").write_text("kept")
        await at.room.post("Do it.", client_id="c1")
        with anyio.fail_after(20):
            while not (at.workspace / "begun").exists():
                for row in at.rows():
                    if row.kind == "approval" and row.state == "streaming":
                        await at.room.decide(row.id, "allow_once")
                await anyio.lowlevel.checkpoint()
        assert len(steps.open_steps(at.store)) == 1
        left = crash(at, tmp_path)
        await at.room.stop()
    async with house(left, ScriptedModel(), conversation=at.room.id) as again:
        assert steps.open_steps(again.store) == []
        assert paths(last(again)) == ["begun", "keep.txt"]
        await again.room.undoing.restore(Part(last(again).id))
        assert [path.name for path in at.workspace.iterdir()] == ["keep.txt"]


async def test_a_stopped_command_can_be_undone(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(runs("echo x > begun; sleep 60"))) as at:
        await at.room.post("Do it.", client_id="c1")
        with anyio.fail_after(20):
            while not (at.workspace / "begun").exists():
                await anyio.lowlevel.checkpoint()
        await at.room.stop()
        assert paths(last(at)) == ["begun"]
        await at.room.undoing.restore(Part(last(at).id))
        assert list(at.workspace.iterdir()) == []


async def test_a_tool_runs_where_nothing_can_be_kept_and_the_chat_says_so_once(tmp_path: Path) -> None:
    model = ScriptedModel(writes("a.txt", "a"), writes("b.txt", "b"), say("Done."))
    async with house(tmp_path, model) as at:
        at.folder.snapshots.rmdir()
        at.folder.snapshots.write_text("no folder")
        await allowing(at)
        assert sorted(path.name for path in at.workspace.iterdir()) == ["a.txt", "b.txt"]
        said = [row for row in at.rows() if row.data.get("notice") == "not_undoable"]
        assert len(said) == 1
        assert "Undo cannot keep" in said[0].text
