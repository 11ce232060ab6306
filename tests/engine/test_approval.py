"""The gate before every call: it passes, waits for the user, or is refused, and nothing else can happen to it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.approval import AskFn
from app.engine.messages import ToolCall
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import JsonlSession, MemorySession
from app.engine.steering import UserInput
from app.engine.tools import Tool as EngineTool
from app.engine.tools import ToolOutput
from tests.engine.test_runner import Tool, agent, done_of, harness

pytestmark = pytest.mark.anyio

DENIED = ToolOutput.failed("E_DENIED", "The user denied this. Ask what to do instead.")


@dataclass
class Asking:
    """Asks about every call in ``about``; the answer comes with ``decide``."""

    about: frozenset[str]
    asked: list[str] = field(default_factory=list)
    answers: dict[str, asyncio.Future[ToolOutput | None]] = field(default_factory=dict)

    async def admit(self, call: ToolCall, tool: EngineTool, ask: AskFn) -> ToolOutput | None:
        if call.id not in self.about:
            return None
        answer = self.answers[call.id] = asyncio.get_running_loop().create_future()
        self.asked.append(call.id)
        ask(events.Approval(f"ask_{call.id}", call.id, "change", {"name": call.name}))
        return await answer

    def decide(self, call_id: str, answer: ToolOutput | None) -> None:
        self.answers[call_id].set_result(answer)


class Stage:
    """One run whose events are answered as they come."""

    def __init__(self, gate: Any, model: ScriptedModel, *tools: Tool) -> None:
        self.gate = gate
        self.session = MemorySession("s", mutating=lambda name: name == "write")
        self.abort = Abort()
        self.happened: list[events.Event] = []
        self._events = run(
            agent(*tools),
            self.session,
            [UserInput("Do it.", "u1")],
            replace(harness(model), gate=gate),
            abort=self.abort,
        )

    async def until(self, kind: type, number: int = 1) -> None:
        async for event in self._events:
            self.happened.append(event)
            if sum(isinstance(one, kind) for one in self.happened) == number:
                return

    async def to_the_end(self) -> events.Done:
        async with aclosing(self._events):
            await self.until(events.Done)
        return done_of(self.happened)

    @property
    def results(self) -> list[tuple[str, str, str | None]]:
        return [
            (one.call_id, one.status, one.code)
            for message in self.session.messages
            for one in message.results
        ]


async def test_a_call_that_is_allowed_runs_after_the_answer_and_not_before() -> None:
    write = Tool("write", read_only=False)
    gate = Asking(frozenset({"c1"}))
    stage = Stage(gate, ScriptedModel([call("write", "c1")], say("Done.")), write)
    await stage.until(events.Approval)
    assert write.runs == []
    gate.decide("c1", None)
    assert (await stage.to_the_end()).status == "completed"
    assert len(write.runs) == 1
    assert stage.results == [("c1", "ok", None)]


async def test_a_call_that_is_denied_never_runs_and_the_model_goes_on() -> None:
    write = Tool("write", read_only=False)
    gate = Asking(frozenset({"c1"}))
    model = ScriptedModel([call("write", "c1")], say("Then not."))
    stage = Stage(gate, model, write)
    await stage.until(events.Approval)
    gate.decide("c1", DENIED)
    assert (await stage.to_the_end()).text == "Then not."
    assert write.runs == []
    assert stage.results == [("c1", "error", "E_DENIED")]
    assert model.requests[-1].messages[-1].results[0].text == DENIED.text


async def test_what_need_not_be_asked_about_runs_while_another_call_waits() -> None:
    look = Tool("look")
    gate = Asking(frozenset({"c1"}))
    model = ScriptedModel([call("look", "c1", 0), call("look", "c2", 1)], say("Done."))
    stage = Stage(gate, model, look)
    await stage.until(events.ToolEnd)
    assert [event.call_id for event in stage.happened if isinstance(event, events.ToolEnd)] == ["c2"]
    gate.decide("c1", None)
    await stage.to_the_end()
    assert [result[0] for result in stage.results] == ["c1", "c2"], "stored in the order of the calls"


async def test_several_are_asked_about_at_once_and_answered_in_any_order() -> None:
    gate = Asking(frozenset({"c1", "c2"}))
    model = ScriptedModel([call("look", "c1", 0), call("look", "c2", 1)], say("Done."))
    stage = Stage(gate, model, Tool("look"))
    await stage.until(events.Approval, 2)
    gate.decide("c2", DENIED)
    gate.decide("c1", None)
    await stage.to_the_end()
    assert stage.results == [("c1", "ok", None), ("c2", "error", "E_DENIED")]


async def test_a_stop_while_the_user_is_asked_runs_nothing_and_leaves_no_doubt() -> None:
    write = Tool("write", read_only=False)
    stage = Stage(Asking(frozenset({"c1"})), ScriptedModel([call("write", "c1")]), write)
    await stage.until(events.Approval)
    stage.abort.set()
    assert (await stage.to_the_end()).status == "aborted"
    assert write.runs == []
    assert stage.results == [("c1", "interrupted", None)]


async def test_a_call_that_waits_is_not_journalled_as_begun(tmp_path: Any) -> None:
    gate = Asking(frozenset({"c1"}))
    path = tmp_path / "s.jsonl"
    session = await JsonlSession.open(path)
    model = ScriptedModel([call("write", "c1")])
    given = replace(harness(model), gate=gate)
    asked = run(agent(Tool("write", read_only=False)), session, [UserInput("Do it.", "u1")], given)
    async with aclosing(asked) as happened:
        async for event in happened:
            if isinstance(event, events.Approval):
                break
        again = await JsonlSession.open(path)
    (result,) = again.messages[-1].results
    assert result.status == "interrupted", "after a crash: it never ran"


@pytest.mark.parametrize("defect", [RuntimeError("broken"), asyncio.CancelledError()])
async def test_a_gate_that_breaks_lets_nothing_pass(defect: BaseException) -> None:
    class Broken:
        async def admit(self, call: ToolCall, tool: EngineTool, ask: AskFn) -> ToolOutput | None:
            raise defect

    write = Tool("write", read_only=False)
    stage = Stage(Broken(), ScriptedModel([call("write", "c1")], say("I see.")), write)
    with anyio.fail_after(5):
        assert (await stage.to_the_end()).status == "completed"
    assert write.runs == []
    assert stage.results == [("c1", "error", "E_TOOL_CRASHED")]


async def test_a_call_that_cannot_run_anyway_is_not_asked_about() -> None:
    gate = Asking(frozenset({"c1", "c2"}))
    model = ScriptedModel([call("write", "c1", 0, wrong=1), call("nothing", "c2", 1)], say("I see."))
    stage = Stage(gate, model, Tool("write", read_only=False))
    await stage.to_the_end()
    assert gate.asked == []
    assert [code for _, _, code in stage.results] == ["E_ARGUMENTS", "E_UNKNOWN_TOOL"]
