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


async def test_a_host_that_is_cancelled_meanwhile_waits_all_the_same() -> None:
    begun, tidied = asyncio.Event(), asyncio.Event()

    async def tidy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            begun.set()
            for _ in range(9):
                await asyncio.sleep(0)
            tidied.set()

    async def host() -> None:
        async with Crew() as crew:
            crew.start(tidy())
            await asyncio.sleep(0)

    async with Crew() as crew:
        task = crew.start(host())
        await begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        await asyncio.wait([task])
    assert task.cancelled()
    assert tidied.is_set()


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
