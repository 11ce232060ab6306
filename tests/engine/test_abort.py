"""The stop of a run: what waits is woken once, and what had ended already is not taken back."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from app.engine.abort import Abort
from app.engine.errors import Aborted

pytestmark = pytest.mark.anyio


async def test_a_second_stop_while_the_first_is_still_tidying_up_changes_nothing() -> None:
    abort = Abort()
    waiting, tidied = anyio.Event(), anyio.Event()
    left: list[str] = []

    async def work() -> None:
        try:
            async with abort.guard():
                try:
                    waiting.set()
                    await anyio.sleep_forever()
                finally:
                    with anyio.CancelScope(shield=True):
                        await tidied.wait()
        except Aborted:
            left.append("aborted")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        await waiting.wait()
        abort.set()
        await anyio.wait_all_tasks_blocked()
        try:
            abort.set()
        finally:
            tidied.set()
    assert left == ["aborted"]


async def test_after_a_stop_nothing_is_waited_for() -> None:
    abort = Abort()
    abort.set()
    with pytest.raises(Aborted):
        async with abort.guard():
            raise AssertionError("nothing in here is begun")


async def test_a_wait_that_is_over_is_not_ended_by_a_later_stop() -> None:
    abort = Abort()
    async with abort.guard():
        await checkpoint()
    abort.set()
    await checkpoint()


async def test_a_cancellation_from_outside_stays_one() -> None:
    abort = Abort()
    with anyio.CancelScope() as scope:
        scope.cancel()
        async with abort.guard():
            await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_timeout_of_the_work_itself_is_not_taken_for_a_stop() -> None:
    abort = Abort()
    with pytest.raises(TimeoutError):
        async with abort.guard():
            raise TimeoutError
