"""A crew ends its own tasks and waits for them, but for nobody for ever."""

from __future__ import annotations

import asyncio

import pytest

from app.infra.crew import Crew

pytestmark = pytest.mark.anyio


async def test_every_task_has_ended_when_the_block_is_left() -> None:
    async with Crew() as crew:
        task = crew.start(asyncio.Event().wait())
    assert task.cancelled()


async def test_a_task_that_tidies_up_is_waited_for() -> None:
    async def tidy() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
        return "never"

    async with Crew() as crew:
        task = crew.start(tidy())
        await asyncio.sleep(0)
    assert task.done()


async def test_a_task_that_does_not_let_itself_be_ended_is_left_behind() -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with Crew(grace=0.0) as crew:
        task = crew.start(stubborn())
        await asyncio.sleep(0)
    assert not task.done()
    release.set()
    await task


async def test_what_a_task_failed_with_is_nobodys_warning() -> None:
    async def fail() -> None:
        raise ValueError

    async with Crew() as crew:
        task = crew.start(fail())
        await asyncio.wait([task])
    assert isinstance(task.exception(), ValueError)
