"""What the user says while a run goes on: folded in at the next boundary, and in the history once."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from app.engine import events
from app.engine.pairing import is_paired
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import JsonlSession, MemorySession
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolOutput
from tests.engine.scenes import Acknowledged, Scene, Waiting
from tests.engine.scenes import is_mutating as is_write
from tests.engine.test_runner import Tool, agent, done_of, harness
from tests.fakes.disk import CountingDisk, CuttableDisk, Fate, PowerCut

pytestmark = pytest.mark.anyio

QUESTION = UserInput("How high?", "asked")


class Heavy(Tool):
    """Two words of the user come while it works."""

    def __init__(self, waiting: Waiting) -> None:
        super().__init__("heavy", read_only=False)
        self._waiting = waiting

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        for number in (1, 2):
            self._waiting.say(f"word {number}", f"s{number}")
            await anyio.lowlevel.checkpoint()
        return ToolOutput("lifted")


async def test_words_said_while_a_tool_works_stand_behind_its_result_and_are_heard_next(
    tmp_path: Path,
) -> None:
    waiting = Waiting()
    session = await JsonlSession.open(tmp_path / "s.jsonl")
    model = ScriptedModel([call("heavy", "c1", 0), call("look", "c2", 1)], say("In metres: 1.2."))
    given = agent(Heavy(waiting), Tool("look"))
    happened = [event async for event in run(given, session, [QUESTION], harness(model), steering=waiting)]
    assert done_of(happened).status == "completed"
    heard = [message.id for message in model.requests[1].messages]
    assert heard[-2:] == ["s1", "s2"]
    assert [message.role for message in session.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "user",
        "assistant",
    ]
    steps = [event for event in happened if isinstance(event, events.ToolEnd | events.Steer)]
    assert [type(event) for event in steps] == [events.ToolEnd] * 2 + [events.Steer] * 2
    assert (await JsonlSession.open(tmp_path / "s.jsonl")).messages == session.messages


async def test_what_the_session_holds_already_is_not_said_twice() -> None:
    session, waiting = MemorySession("s"), Waiting()
    model = ScriptedModel(say("1.2 m."), say("1.2 m, as I said."))
    for _ in range(2):
        waiting.list = [UserInput("In metres.", "steered")]
        given = run(agent(), session, [QUESTION], harness(model), steering=waiting)
        assert done_of([event async for event in given]).status == "completed"
        model = ScriptedModel(say("1.2 m."), say("1.2 m, as I said."))
    ids = Counter(message.id for message in session.messages)
    assert (ids["asked"], ids["steered"]) == (1, 1)


@pytest.mark.parametrize("fate", get_args(Fate))
async def test_the_power_may_go_at_any_call_to_the_disk_and_each_word_is_heard_once(
    tmp_path: Path, fate: Fate
) -> None:
    """The list of waiting messages outlives the process, as the session does; nothing ties the two together."""
    for cut in itertools.count(1):
        path = tmp_path / str(cut) / "s.jsonl"
        path.parent.mkdir()
        first = await JsonlSession.open(path, mutating=is_write, disk=CuttableDisk(cut, fate))
        scene = Scene(Acknowledged(first))
        try:
            await scene.play()
        except PowerCut:
            pass
        else:
            assert cut > 40
            return
        session = await JsonlSession.open(path, mutating=is_write, disk=CountingDisk())
        scene.check_kept(session.messages, scene.session.durable)
        waiting = scene.waiting
        model = ScriptedModel(say("Fine."), say("Fine again."), window=1_000_000)
        given = run(agent(), session, [QUESTION], harness(model), steering=waiting)
        assert done_of([event async for event in given]).status == "completed"
        assert is_paired(session.messages)
        ids = Counter(message.id for message in session.messages)
        assert {ids[said.id] for said in [QUESTION, *waiting.said]} == {1}
        assert waiting.list == []
