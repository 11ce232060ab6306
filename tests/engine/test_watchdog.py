"""The watchdog of a tool: what counts as progress, and what becomes of a call that shows none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.engine.runner import run
from app.engine.scripted import ScriptedModel, call, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolOutput
from app.engine.watchdog import Stalled, Watchdog
from tests.engine.test_runner import Tool, agent, done_of, harness

pytestmark = pytest.mark.anyio

NEVER = 3600.0


class Silent(Tool):
    """Waits for ever, and says what it is told to when it is ended."""

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        try:
            await asyncio.Event().wait()
        finally:
            context.progress("tidying up", None, None)
        raise AssertionError("nobody ends the wait but the watchdog")


async def run_silent(tool: Tool) -> MemorySession:
    session = MemorySession("s")
    model = ScriptedModel([call(tool.name, "c1")], say("I see."))
    inputs = [UserInput("hello", "u1")]
    within = replace(harness(model), tool_idle_limit=0.0)
    happened = [event async for event in run(agent(tool), session, inputs, within)]
    assert done_of(happened).status == "completed"
    assert done_of(happened).tool_errors.transient == 1
    return session


async def test_a_call_without_progress_is_ended_and_the_model_is_told() -> None:
    session = await run_silent(Silent("look"))
    (result,) = session.messages[2].results
    assert result.code == "E_TIMEOUT"
    assert result.text.startswith("E_TIMEOUT: look showed no progress for 0 minutes and was ended.")
    assert "may have changed" not in result.text


async def test_a_change_that_was_ended_may_have_happened() -> None:
    session = await run_silent(Silent("write", read_only=False))
    assert "It may have changed something" in session.messages[2].results[0].text


async def deadline_after(*shown: tuple[str | None, int | None, int | None]) -> bool:
    """Whether the deadline was moved by what was shown last."""
    watchdog = Watchdog(NEVER)
    async with watchdog.watch():
        for progress in shown[:-1]:
            watchdog.progress(*progress)
        before = watchdog.deadline
        watchdog.limit *= 2
        watchdog.progress(*shown[-1])
        return watchdog.deadline != before


@pytest.mark.parametrize(
    "shown",
    [
        [("line 1", None, None)],
        [("line 1", None, None), ("line 2", None, None)],
        [(None, 1, 10), (None, 2, 10)],
        [(None, 1, None), ("begins", 1, None)],
        [("on", 1, None), ("off", 1, None), ("on", 1, None)],
    ],
)
async def test_progress_gives_a_call_more_time(
    shown: list[tuple[str | None, int | None, int | None]],
) -> None:
    assert await deadline_after(*shown)


@pytest.mark.parametrize(
    "shown",
    [
        [(None, None, None)],
        [("  \n", None, None)],
        [("still there", None, None), ("still there", None, None)],
        [(None, 3, 10), (None, 3, 10)],
        [("working", 3, 10), ("working", 3, 10)],
    ],
)
async def test_a_heartbeat_gives_none(shown: list[tuple[str | None, int | None, int | None]]) -> None:
    assert not await deadline_after(*shown)


async def test_a_timeout_of_the_tools_own_is_not_the_watchdogs() -> None:
    with pytest.raises(TimeoutError) as caught:
        async with Watchdog(NEVER).watch():
            raise TimeoutError
    assert not isinstance(caught.value, Stalled)
