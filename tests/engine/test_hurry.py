"""Try now: a wait for a busy model ends at once, and nothing else does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from app.engine import events
from app.engine.abort import Abort
from app.engine.errors import ProviderError
from app.engine.harness import Harness
from app.engine.hurry import Hurry
from app.engine.runner import run
from app.engine.scripted import ScriptedModel, say
from app.engine.session import MemorySession
from app.engine.steering import UserInput
from app.infra.ids import new_id
from tests.engine.test_runner import agent, done_of

pytestmark = pytest.mark.anyio

BUSY = [ProviderError("overloaded", "Busy.")]


class Standing:
    """A clock on which a wait never ends by itself."""

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 14, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()


async def run_impatiently(model: ScriptedModel, **given: Any) -> list[events.Event]:
    hurry, happened = Hurry(), []
    act = given["abort"].set if "abort" in given else hurry.now
    loop = asyncio.get_running_loop()
    harness = Harness(model, Standing(), new_id, lambda: 0.5)
    async for event in run(
        agent(), MemorySession("s"), [UserInput("hello", "u1")], harness, hurry=hurry, **given
    ):
        happened.append(event)
        if isinstance(event, events.Retry):
            loop.call_soon(loop.call_soon, act)
    return happened


async def test_the_model_is_asked_again_at_once() -> None:
    happened = await run_impatiently(ScriptedModel(BUSY, BUSY, say("ok")))
    assert done_of(happened).text == "ok"
    assert [event.attempt for event in happened if isinstance(event, events.Retry)] == [1, 2]


async def test_a_stop_in_the_wait_is_still_a_stop() -> None:
    happened = await run_impatiently(ScriptedModel(BUSY, say("never")), abort=Abort())
    assert done_of(happened).status == "aborted"


async def test_outside_of_a_wait_there_is_nothing_to_hurry() -> None:
    hurry = Hurry()
    assert not hurry.now()
    async with hurry.wait():
        pass
    assert not hurry.now()


async def test_a_timeout_of_somebody_else_is_not_swallowed() -> None:
    with pytest.raises(TimeoutError):
        async with Hurry().wait():
            raise TimeoutError
