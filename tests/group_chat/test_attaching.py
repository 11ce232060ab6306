"""Files of the user on their way: to whoever works on the message they were sent with, and to nobody else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow

from app.engine.errors import ProviderError
from app.engine.messages import Image
from app.engine.provider import ModelRequest
from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.errors import EmptyMessage
from app.hands.permissions.confinement import Mechanism, find_confinement
from app.infra.ids import new_id
from app.workspace import conversations, tasks
from app.workspace.attached import Attachment, attachments_of
from app.workspace.attachments import Attachments
from tests.group_chat.plans import plan_at, set_plan, step
from tests.group_chat.rooms import House, house, members_confined
from tests.group_chat.teams import TeamModel, dispatch, heard

pytestmark = pytest.mark.anyio


async def attach(at: House, *files: tuple[str, bytes]) -> tuple[Attachment, ...]:
    """As the page does it."""
    kept = Attachments(at.folder, at.room.id, new_id)
    return kept.send([(await kept.keep(name, io.BytesIO(data))).id for name, data in files])


async def send(at: House, text: str, *files: tuple[str, bytes], **more: Any) -> tuple[Attachment, ...]:
    sent = await attach(at, *files)
    await at.room.post(text, client_id=new_id("said"), attachments=sent, **more)
    await at.quiet()
    return sent


def picture(width: int = 8) -> bytes:
    file = io.BytesIO()
    Pillow.new("RGB", (width, 6), "teal").save(file, "PNG")
    return file.getvalue()


BOTH = (("berths.csv", b"1,2\n"), ("harbour.png", picture()))


def seen(request: ModelRequest) -> list[str]:
    """The pictures that a model was shown."""
    blocks = (block for message in request.messages for block in message.blocks)
    return [block.ref for block in blocks if isinstance(block, Image) and block.ref]


def has_both(at: House, request: ModelRequest, sent: tuple[Attachment, ...]) -> bool:
    named = all(str(at.folder.root / one.path) in heard(request) for one in sent)
    return named and set(seen(request)) == {sent[1].picture}


async def test_a_member_that_is_sent_a_worker_and_who_gets_the_floor_have_the_files_too(
    tmp_path: Path,
) -> None:
    model = TeamModel(
        commander=[
            dispatch(("coder", "Count.")),
            [call("run_worker", "w1", task="Measure.")],
            [call("hand_off_to", "h1", to="tutor", message="Explain.")],
        ],
        coder=[say("Two.")],
        tutor=[say("Look.")],
        worker=[say("Three metres.")],
    )
    async with house(tmp_path, model) as at:
        sent = await send(at, "What do you see?", *BOTH)
        for who in ("commander", "coder", "worker", "tutor"):
            assert has_both(at, model.asked[who][0], sent), who
        assert heard(model.asked["coder"][0]).rstrip().endswith("Count.")


async def test_every_step_of_a_plan_has_the_files_of_the_first_message(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[set_plan(step(1, "coder", "Count."), step(2, "writer", "Write.")), say("Set.")],
        coder=[dispatch(("writer", "no")), say("Two.")],
        writer=[say("Written.")],
    )
    async with house(tmp_path, model) as at:
        sent = await send(at, "Count and write.", *BOTH)
        assert plan_at(at).plan.request.attachments == sent
        for who in ("coder", "writer"):
            assert has_both(at, model.asked[who][0], sent), who


async def test_who_is_not_spoken_to_hears_of_no_file(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[say("Yes?")], coder=[say("I have them."), say("Still.")], writer=[say("I have none.")]
    )
    async with house(tmp_path, model) as at:
        [file, drawn] = await send(at, "@Coder look", *BOTH)
        await send(at, "@Writer and you?")
        assert seen(model.asked["writer"][0]) == []
        assert "berths.csv" not in heard(model.asked["writer"][0])
        await send(at, "@Commander what did I send?")
        overheard = heard(model.asked["commander"][0])
        assert str(at.folder.root / file.path) in overheard
        assert "(a picture, " in overheard
        assert seen(model.asked["commander"][0]) == []
        assert drawn.picture in seen(model.asked["coder"][0])


async def test_a_job_that_is_tried_again_after_a_restart_has_them_again(tmp_path: Path) -> None:
    refused = ProviderError("auth", "The key was refused.")
    model = TeamModel(commander=[dispatch(("coder", "Count.")), say("Hm.")], coder=[[refused]])
    async with house(tmp_path, model) as at:
        sent = await send(at, "Count.", *BOTH)
        [row] = tasks.list_tasks(at.store, at.room.id)
        conversation = at.room.id
    again = TeamModel(coder=[say("Two.")])
    async with house(tmp_path, again, conversation=conversation) as at:
        await at.room.retry_task(row.id)
        await at.quiet()
        assert has_both(at, again.asked["coder"][0], sent)


async def test_a_turn_that_failed_before_its_first_word_has_them_when_it_is_tried_again(
    tmp_path: Path,
) -> None:
    model = TeamModel(commander=[[ProviderError("auth", "The key was refused.")], say("I see.")])
    async with house(tmp_path, model) as at:
        sent = await send(at, "Look.", *BOTH)
        await at.room.resume()
        await at.quiet()
        assert has_both(at, model.asked["commander"][1], sent)


async def test_a_message_is_a_text_or_a_file(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("I see."))) as at:
        with pytest.raises(EmptyMessage):
            await at.room.post(" ", client_id="c1")
        await send(at, "", *BOTH)
        assert [one.name for one in attachments_of(at.rows()[0].data)] == ["berths.csv", "harbour.png"]


class TestHands:
    """What a member can do with the files."""

    async def test_tools_read_them_and_change_nothing(self, tmp_path: Path) -> None:
        model = ScriptedModel()
        async with house(tmp_path, model) as at:
            [file] = await attach(at, ("berths.csv", b"pier,1\n"))
            path = str(at.folder.root / file.path)
            folder = str(Path(path).parent)
            model._replies += [
                [call("read_file", "r1", path=path)],
                [call("grep_files", "g1", pattern="pier", root=folder)],
                [call("write_file", "w1", path=path, content="mine")],
                [call("delete_file", "d1", path=path)],
                say("Done."),
            ]
            await at.room.post("Read it.", client_id="c1", attachments=[file])
            await at.quiet()
            read, found, *changed = results(at)
            assert "pier,1" in read
            assert "pier,1" in found
            assert all(one.startswith("E_DENIED") and "only read" in one for one in changed)
            assert Path(path).read_bytes() == b"pier,1\n"

    @pytest.mark.parametrize("way", ["{}/{}", "{}/../{}"])
    async def test_those_of_another_conversation_are_closed(self, tmp_path: Path, way: str) -> None:
        model = ScriptedModel()
        async with house(tmp_path, model) as at:
            other = conversations.create_conversation(at.store, workspace=str(at.workspace)).id
            kept = Attachments(at.folder, other, new_id)
            [file] = kept.send([(await kept.keep("theirs.txt", io.BytesIO(b"theirs"))).id])
            own = str(at.folder.attachments / at.room.id)
            inside = f"{other}/{file.id}/{file.name}"
            path = way.format(own if ".." in way else at.folder.attachments, inside)
            model._replies += [[call("read_file", "r1", path=path)], say("Done.")]
            await send(at, "Read it.", ("mine.txt", b"mine"))
            assert results(at)[0].startswith("E_")
            assert "theirs" not in results(at)[0].replace("theirs.txt", "")

    async def test_a_command_reads_them_without_a_question(self, tmp_path: Path) -> None:
        model = ScriptedModel()
        mechanism: Mechanism = (await find_confinement()).mechanism
        async with house(tmp_path, model, make_members=members_confined(mechanism)) as at:
            [file] = await attach(at, ("berths.csv", b"pier,1\n"))
            path = at.folder.root / file.path
            model._replies += [[call("bash", "b1", command=f"cat {path}")], say("Done.")]
            await at.room.post("Read it.", client_id="c1", attachments=[file])
            await at.quiet()
            assert "pier,1" in results(at)[0]
            assert not [row for row in at.rows() if row.kind == "approval"]


def results(at: House) -> list[str]:
    return [str(row.data.get("result")) for row in at.rows() if row.kind == "tool_call"]
