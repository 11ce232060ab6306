"""The tables of the room, played in a real one: who takes a turn, who holds the floor, what each member is told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.provider import ModelRequest, Stop, StreamBatch, StreamEvent, TextChunk
from app.engine.scripted import ScriptedModel, call, say
from app.infra.ids import new_id
from app.workspace import conversations, tasks, turns
from app.workspace.attached import Attachment
from tests.case_tables import load_jsonl, load_tsv
from tests.group_chat.rooms import House, house
from tests.group_chat.teams import member_of

pytestmark = pytest.mark.anyio

WHILE_AT_WORK = {"queue_while_running"}
FLOOR = [row for row in load_jsonl("floor_cases.jsonl") if row["id"] not in WHILE_AT_WORK]
GOES_ON = ("result", "form_answer")
"""Acts after which somebody goes on with a turn that has begun."""

PLAYED = {None, "dispatch", "hand_off", "worker"}
SLICES = [
    row
    for row in load_jsonl("visibility_cases.jsonl")
    if row["messages"]
    and row["messages"][0]["from"] == "user"
    and all(
        message.get("kind") in PLAYED and not message.keys() & {"edited_to", "deleted"}
        for message in row["messages"]
    )
    and {"coder", "writer", "tutor"} <= set(row["slices"])
]


class Players(ScriptedModel):
    """Every member says what is next in its part, and else that it is here."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: defaultdict[str, list[Sequence[StreamEvent]]] = defaultdict(list)
        self.asked: defaultdict[str, list[ModelRequest]] = defaultdict(list)

    async def stream(self, request: ModelRequest) -> Any:
        who = member_of(request)
        self.asked[who].append(request)
        part = self.parts[who].pop(0) if self.parts[who] else say("Here.")
        for event in part:
            yield (event,)
        if not isinstance(part[-1], Stop):
            yield (Stop("tool_calls"),)


class Always(ScriptedModel):
    """Says the same, whoever it is."""

    text = "Here."

    async def stream(self, request: ModelRequest) -> Any:
        for piece in (*self.text, Stop("end")):
            batch: StreamBatch = (TextChunk(piece) if isinstance(piece, str) else piece,)
            yield batch


def add_member(at: House, id: str, name: str, **head: str) -> None:
    lines = "".join(f"{key}: {value}\n" for key, value in head.items())
    (at.folder.agents / f"{id}.md").write_text(f"---\nname: {name}\n{lines}---\nYou answer.\n")


def taken(at: House) -> list[str]:
    return [turn.member for turn in turns.list_turns(at.store, at.room.id, 1000)]


class TestFloor:
    @pytest.mark.parametrize("row", FLOOR, ids=[row["id"] for row in FLOOR])
    async def test_who_answers_and_who_holds_the_floor(self, tmp_path: Path, row: dict[str, Any]) -> None:
        model = Players()
        conversation = None
        for scene in scenes(row["steps"]):
            async with house(tmp_path, model, conversation=conversation) as at:
                conversation = at.room.id
                add_member(at, "coach", "Coach", interactive="true")
                before = len(taken(at))
                await play(at, model, scene)
                expected = [
                    who for step in scene if step.get("act") not in GOES_ON for who in step["answers"]
                ]
                assert taken(at)[before:] == expected
                assert at.room.holder == scene[-1]["floor"]


def scenes(steps: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Each begins with a message of the user, or with something that happens between two."""
    scene: list[dict[str, Any]] = []
    for step in steps:
        if scene and ("user" in step or step["act"] in ("reload", "restart", "take_back")):
            yield scene
            scene = []
        scene.append(step)
    yield scene


async def play(at: House, model: Players, scene: Sequence[dict[str, Any]]) -> None:
    first, *acts = scene
    if "user" not in first:
        if first["act"] == "take_back":
            await at.room.take_back_floor()
        return
    for number, step in enumerate(acts):
        if part := part_of(step, f"call{number}"):
            model.parts[step["by"]].append(part)
        if "open_task" in step:
            leave_open(at, step["open_task"])
    await at.room.post(first["user"], client_id=new_id("said"), attachments=files_of(first))
    if any(step["act"] == "form_answer" for step in acts):
        await fill_in(at)
    await at.quiet()
    model.parts.clear()


def files_of(said: dict[str, Any]) -> list[Attachment]:
    return [Attachment(f"attachments/conv/att/{name}", 1) for name in said.get("attachments", ())]


def part_of(step: dict[str, Any], id: str) -> Sequence[StreamEvent] | None:
    match step["act"]:
        case "says":
            return say(step["text"])
        case "dispatch_to" | "hand_off_to" as act:
            return [call(act, id, to=step["to"], message="Do it.")]
        case "run_worker":
            return [call("run_worker", id, task="Do it.", **({"to": step["to"]} if "to" in step else {}))]
        case "hand_back" if step["by"] != "tutor" or not step.get("refused"):
            return [call("hand_back", id, reason=step["reason"])]
        case "ask_user":
            field = {"id": "a", "type": "text", "label": "Which?"}
            return [call("ask_user", id, title="A question", fields=[field])]
        case _:
            return None


def leave_open(at: House, job: str) -> None:
    """Something of Commander's that has not ended."""
    given = {"kind": "dispatch", "asker": "commander", "member": "coder", "given": "turn", "call_id": "c"}
    tasks.add_task(at.store, at.room.id, job=job, **given)  # type: ignore[arg-type]


async def fill_in(at: House) -> None:
    asked = anyio.Event()

    def look() -> None:
        if forms(at):
            asked.set()

    unwatch = at.room.feed.watch(look)
    with anyio.fail_after(10):
        await asked.wait()
    unwatch()
    await at.room.forms.answer(forms(at)[0], {"a": ["this"]})


def forms(at: House) -> list[str]:
    return [row.id for row in at.rows() if row.kind == "form" and row.state == "streaming"]


class TestSlices:
    @pytest.mark.parametrize("row", SLICES, ids=[row["id"] for row in SLICES])
    async def test_a_member_is_told_its_slice_and_the_request_of_the_user(
        self, tmp_path: Path, row: dict[str, Any]
    ) -> None:
        """Each text is made one of its own, so that it can be found again."""
        model = Players()
        messages = row["messages"]
        async with house(tmp_path, model) as at:
            for said, answers in speeches(messages):
                give_parts(model, answers)
                text = f"{said['text']} {words_of(said)}"
                await at.room.post(text, client_id=new_id("said"), attachments=files_of(said))
                await at.quiet()
            for member in ("coder", "writer", "tutor"):
                await at.say(f"@{member.title()} are you there?")
                told = str(model.asked[member][-1].messages)
                for message in messages:
                    is_told = words_of(message) in told
                    may_be_carried = message["from"] == "user" and message["to"] == ["commander"]
                    assert is_told == (message["id"] in row["slices"][member]) or may_be_carried


def words_of(message: dict[str, Any]) -> str:
    return f"[these are the words {message['id']}]"


def speeches(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each message of the user and what came of it."""
    said = None
    for is_user, found in groupby(messages, lambda message: message["from"] == "user"):
        several = list(found)
        if is_user:
            *without_answer, said = several
            yield from ((message, []) for message in without_answer)
        elif said is not None:
            yield said, several
            said = None
    if said is not None:
        yield said, []


def give_parts(model: Players, answers: Sequence[dict[str, Any]]) -> None:
    """What Commander says and asks in a row is one step; only its last words end the turn."""
    for by, found in groupby(answers, lambda answer: answer["from"]):
        several = list(found)
        asks = any("kind" in answer for answer in several)
        part = [
            asking(answer, place) if "kind" in answer else TextChunk(f"{answer['text']} {words_of(answer)}")
            for place, answer in enumerate(several)
        ]
        model.parts[by].append(part if asks else [*part, Stop("end")])


def asking(message: dict[str, Any], place: int) -> StreamEvent:
    name = {"dispatch": "dispatch_to", "hand_off": "hand_off_to", "worker": "run_worker"}[message["kind"]]
    text = {"task" if name == "run_worker" else "message": words_of(message)}
    return call(name, f"call_{message['id']}", place, to=message["to"][0], **text)


@asynccontextmanager
async def crowd(tmp_path: Path, members: str) -> AsyncIterator[House]:
    async with house(tmp_path, Always()) as at:
        for member in members.split("; "):
            id, name = member.split("=")
            if id != "commander":
                add_member(at, id.lower(), name)
        yield at


MENTIONS = [row for row in load_tsv("mention_cases.tsv") if row["author"] == "user"]


@pytest.mark.parametrize("members", sorted({row["members"] for row in MENTIONS}))
async def test_whom_a_message_of_the_user_calls_takes_a_turn(tmp_path: Path, members: str) -> None:
    async with crowd(tmp_path, members) as at:
        for row in (row for row in MENTIONS if row["members"] == members):
            before = len(taken(at))
            await at.say(row["text"])
            called = row["to"].split(",") if row["to"] else ["commander"]
            assert taken(at)[before:] == called, row["id"]
            said = [one for one in at.rows() if one.kind == "user"][-1]
            assert said.data["to"] == called, row["id"]
            assert ",".join(said.data.get("unknown", ())) == row["unknown"], row["id"]


SAID_TO = {"holder": "go on", "dispatched_member": "@Coder go on"}


async def test_the_marker_gives_the_floor_back_as_the_table_says(tmp_path: Path) -> None:
    model = Always()
    async with house(tmp_path, model) as at:
        for row in (row for row in load_tsv("handback_cases.tsv") if row["source"] in SAID_TO):
            conversations.pass_floor(at.store, at.room.id, "tutor")
            model.text = row["text"]
            before = len(at.rows())
            await at.say(SAID_TO[row["source"]])
            assert (at.room.holder == "commander") == (row["verdict"] == "back"), row["id"]
            shown = [one.text for one in at.rows()[before:] if one.kind == "assistant"]
            assert "".join(shown).strip() == row["shown"].strip(), row["id"]
