"""The calls of one step: whatever a tool does, each call comes to one result and the turn goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.errors import Aborted
from app.engine.provider import CallFragment
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.engine.tools import HandsOver, ToolContext, ToolOutput
from tests.engine.test_runner import Tool, agent, all_of, done_of, harness

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> MemorySession:
    return MemorySession("s")


def results(session: MemorySession) -> list[tuple[str, str, str | None]]:
    return [
        (result.call_id, result.status, result.code)
        for message in session.messages
        for result in message.results
    ]


async def test_a_tool_whose_own_work_was_cancelled_has_failed_and_nobody_waits_for_it(
    session: MemorySession,
) -> None:
    class Lost(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            raise asyncio.CancelledError

    model = ScriptedModel([call("lost", "c1")], say("I see."))
    with anyio.fail_after(5):
        done = done_of(await all_of(model, Lost("lost"), session=session))
    assert done.status == "completed"
    assert results(session) == [("c1", "error", "E_TOOL_CRASHED")]


@pytest.mark.parametrize(
    "wrong",
    [None, ToolOutput(None), Aborted(), BaseExceptionGroup("two", [asyncio.CancelledError()])],  # type: ignore[arg-type]
)
async def test_a_tool_that_gives_no_output_or_breaks_in_any_way_is_answered_all_the_same(
    session: MemorySession, wrong: Any
) -> None:
    class Wrong(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            if isinstance(wrong, BaseException):
                raise wrong
            return wrong  # type: ignore[no-any-return]

    model = ScriptedModel([call("wrong", "c1")], say("I see."))
    with anyio.fail_after(5):
        done = done_of(await all_of(model, Wrong("wrong"), session=session))
    assert done.status == "completed"
    assert results(session) == [("c1", "error", "E_TOOL_CRASHED")]


async def test_a_store_of_results_that_breaks_is_the_calls_trouble_alone(session: MemorySession) -> None:
    class Broken:
        async def keep(self, text: str) -> str:
            raise ValueError("no such table")

    model = ScriptedModel([call("look", "c1")], say("I see."))
    within = replace(harness(model), results=Broken())
    tool = Tool("look", output=ToolOutput("word " * 50_000))
    with anyio.fail_after(5):
        happened = [event async for event in run(agent(tool), session, [UserInput("hello", "u1")], within)]
    assert done_of(happened).status == "completed"
    assert results(session) == [("c1", "error", "E_TOOL_CRASHED")]


async def test_a_result_that_was_there_before_the_stop_is_kept(session: MemorySession) -> None:
    """The stop comes in the very moment in which a change is done."""
    abort = Abort()

    class Stopper(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            abort.set()
            return ToolOutput("written")

    write = Stopper("write", read_only=False)
    happened = await all_of(ScriptedModel([call("write", "c1")]), write, session=session, abort=abort)
    assert done_of(happened).status == "aborted"
    assert results(session) == [("c1", "ok", None)]
    assert [event.result for event in happened if isinstance(event, events.ToolEnd)] == ["written"]


async def test_progress_that_comes_after_the_end_of_a_call_is_not_told(session: MemorySession) -> None:
    other = Tool("other")
    other.may_end = anyio.Event()

    class Chatty(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            loop = asyncio.get_running_loop()
            loop.call_later(0, lambda: loop.call_soon(context.progress, "late", None, None))
            loop.call_later(0.01, other.may_end.set)
            return ToolOutput("early")

    model = ScriptedModel([call("chatty", "c1", 0), call("other", "c2", 1)], say("ok"))
    happened = await all_of(model, Chatty("chatty"), other, session=session)
    told = [event for event in happened if isinstance(event, events.ToolEnd | events.ToolProgress)]
    assert [type(event).__name__ for event in told if event.call_id == "c1"] == ["ToolEnd"]


@pytest.mark.parametrize("depth", [50, 200, 400, 480, 600, 5000])
async def test_arguments_of_any_depth_are_a_result_and_not_the_end_of_the_turn(
    session: MemorySession, depth: int
) -> None:
    nested = f'{{"path": {"[" * depth}{"]" * depth}}}'
    model = ScriptedModel([CallFragment(0, "c1", "look", nested)], say("ok"))
    done = done_of(await all_of(model, Tool("look"), session=session))
    assert done.status == "completed"
    assert results(session) == [("c1", "error", "E_ARGUMENTS")]


async def test_a_schema_that_cannot_be_used_is_the_failure_of_its_tool_alone(session: MemorySession) -> None:
    broken = Tool("broken")
    broken.parameters = {"type": "object", "properties": {"path": {"pattern": "("}}}
    model = ScriptedModel([call("broken", "c1", path="a")], say("ok"))
    done = done_of(await all_of(model, broken, session=session))
    assert done.status == "completed"
    assert results(session) == [("c1", "error", "E_TOOL_CRASHED")]
    assert not broken.runs


class Asks(Tool, HandsOver):
    """Gives its work to others, who are all there before the first of them answers."""

    def __init__(self, name: str, at_once: int) -> None:
        super().__init__(name, read_only=False)
        self._there = 0
        self._at_once = at_once
        self._all_there = anyio.Event()

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        self._there += 1
        if self._there == self._at_once:
            self._all_there.set()
        await self._all_there.wait()
        return ToolOutput("answered")


async def test_calls_that_hand_their_work_over_run_side_by_side(session: MemorySession) -> None:
    model = ScriptedModel([call("ask", f"c{number}", number) for number in range(3)], say("Done."))
    with anyio.fail_after(5):
        done = done_of(await all_of(model, Asks("ask", 3), session=session))
    assert done.status == "completed"
    assert [status for _, status, _ in results(session)] == ["ok"] * 3


async def test_no_limit_of_a_run_ends_the_wait_for_somebody_else(session: MemorySession) -> None:
    class Patient(Tool, HandsOver):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            await anyio.wait_all_tasks_blocked()
            return ToolOutput("answered")

    model = ScriptedModel([call("ask", "c1")], say("Done."))
    within = replace(harness(model), tool_idle_limit=0.0)
    tool = Patient("ask", read_only=False)
    async for _ in run(agent(tool), session, [UserInput("hello", "u1")], within):
        pass
    assert results(session) == [("c1", "ok", None)]


async def test_a_run_ends_with_the_call_that_gives_the_word_to_somebody_else(session: MemorySession) -> None:
    class GivesWord(Tool):
        async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            return ToolOutput("Handed over.", ends_run=True)

    model = ScriptedModel([*say("I pass you on."), call("pass", "c1")])
    done = done_of(await all_of(model, GivesWord("pass"), session=session))
    assert (done.status, done.text) == ("completed", "I pass you on.")
    assert results(session) == [("c1", "ok", None)]
