"""A run may be stopped, cancelled or left at any moment at all: each one of a run with everything in it is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

from app.engine import events
from app.engine.pairing import is_paired
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.view import view
from app.infra.crew import Crew
from tests.engine.scenes import Acknowledged, Scene, is_mutating
from tests.engine.wires import WIRES
from tests.fakes.disk import CountingDisk, FaultyDisk


class Moments(asyncio.SelectorEventLoop):
    """Counts every callback that it runs, of whatever task, and does something right before the one it is told.

    Between two callbacks nothing can happen to a run: all its awaits are among these moments.
    """

    def __init__(self) -> None:
        super().__init__()
        self.troubles: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _, trouble: self.troubles.append(trouble))
        self.acted = 0
        """How often something was done."""
        self._left = 0
        self._act: Callable[[], object] = lambda: None

    def before(self, number: int, act: Callable[[], object]) -> None:
        """``act`` before the moment of this number, counted from 1 and from now on; 0 is never."""
        self._left, self._act = number, act

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        return super().call_soon(self._reach, callback, args, context=context)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        return super().call_soon_threadsafe(self._reach, callback, args, context=context)

    def _reach(self, callback: Any, args: Any) -> None:
        self._left -= 1
        if self._left == 0:
            self.acted += 1
            self._act()
        callback(*args)


class Stage:
    """Plays the scene again and again, each time interfered with at a later moment, until it ends before that."""

    def __init__(self, open_session: Callable[[int], Awaitable[Session]]) -> None:
        self.loop = Moments()
        self._open = open_session

    def close(self) -> None:
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def each_moment(self, interfere: Callable[[Scene, asyncio.Task[None]], object]) -> int:
        """How many moments there are."""
        for number in count(1):
            if not self.loop.run_until_complete(self._play(number, interfere)):
                return number - 1
        raise AssertionError("never")

    def each_event(self, interfere: Callable[[Scene, int], Awaitable[object]]) -> int:
        for number in count():
            if not self.loop.run_until_complete(self._meet(number, interfere)):
                return number
        raise AssertionError("never")

    async def undisturbed(self) -> Scene:
        scene, _ = await self._raise_the_curtain(0)
        await scene.play()
        return scene

    async def _play(self, number: int, interfere: Callable[[Scene, asyncio.Task[None]], object]) -> bool:
        scene, files = await self._raise_the_curtain(number)
        async with Crew() as crew:
            task = crew.start(scene.play())
            acted = self.loop.acted
            self.loop.before(number, lambda: interfere(scene, task))
            await asyncio.wait([task])
            self.loop.before(0, lambda: None)
        await self._look_at(scene, number, files, cut_off=task.cancelled())
        return self.loop.acted > acted

    async def _meet(self, number: int, interfere: Callable[[Scene, int], Awaitable[object]]) -> bool:
        scene, files = await self._raise_the_curtain(number)
        await interfere(scene, number)
        reached = len(scene.happened) > number
        await self._look_at(scene, number, files, cut_off=not isinstance(scene.happened[-1], events.Done))
        return reached

    async def _raise_the_curtain(self, number: int) -> tuple[Scene, int]:
        scene = Scene(Acknowledged(await self._open(number)))
        return scene, open_files()

    async def _look_at(self, scene: Scene, number: int, files: int, *, cut_off: bool) -> None:
        """What was promised holds, and the very same session takes the next message."""
        scene.check_quiet()
        assert len(asyncio.all_tasks()) == 1
        assert open_files() == files
        if not cut_off:
            scene.check_closed()
        request = await scene.say_next()
        if number % 4 == 0:
            WIRES[number // 4 % len(WIRES)].compiled(request)
        messages = scene.session.messages
        assert is_paired(messages)
        assert view(messages[:-1]).messages == request.messages, "the model was told another history"
        scene.check_kept(messages, scene.session.ids)
        assert scene.waiting.list == []
        again = await self._open(number)
        if again.messages:
            assert again.messages == messages
        assert self.loop.troubles == []


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.fixture(params=["memory", "file"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    async def in_memory(number: int) -> Session:
        return MemorySession("s", mutating=is_mutating)

    async def in_a_file(number: int) -> Session:
        path = tmp_path / f"{number}.jsonl"
        return await JsonlSession.open(path, mutating=is_mutating, disk=CountingDisk())

    stage = Stage(in_memory if request.param == "memory" else in_a_file)
    yield stage
    stage.close()


def test_a_stop_at_any_moment_ends_in_one_done_and_a_history_that_goes_on(stage: Stage) -> None:
    assert stage.each_moment(lambda scene, task: scene.abort.set()) > 80


def test_a_cancellation_at_any_moment_leaves_nothing_behind_and_loses_nothing(stage: Stage) -> None:
    assert stage.each_moment(lambda scene, task: task.cancel()) > 80


def test_a_consumer_may_leave_at_any_event(stage: Stage) -> None:
    assert stage.each_event(Scene.play_until) > 30


def test_a_consumer_may_stop_the_run_at_any_event(stage: Stage) -> None:
    assert stage.each_event(Scene.play_and_stop_at) > 30


def test_a_run_that_is_being_stopped_may_be_cancelled_too(stage: Stage) -> None:
    later = cycle(range(1, 14))

    def stop_and_cancel(scene: Scene, task: asyncio.Task[None]) -> None:
        scene.abort.set()
        stage.loop.before(next(later), task.cancel)

    stage.each_moment(stop_and_cancel)


def test_the_scene_has_all_that_a_run_can_do(stage: Stage) -> None:
    scene = stage.loop.run_until_complete(stage.undisturbed())
    kinds = {type(event) for event in scene.happened}
    every = set(events.Event.__args__) - {
        events.Fallback,
        events.Omission,
        events.LoopWarning,
        events.ToolDelta,
    }
    assert kinds >= every
    assert scene.done.steps == 5
    assert scene.done.tool_errors == events.ToolErrors(permanent=1)
    assert [message.text for message in scene.session.messages if message.role == "assistant"][-2:] == [
        "High water is at noon and midnight.",
        "In metres: 1.2.",
    ]


@pytest.mark.parametrize("calls", [1, 2], ids=["one call", "two calls in a row"])
def test_the_disk_may_refuse_any_call_and_the_next_message_finds_a_whole_history(
    tmp_path: Path, calls: int
) -> None:
    async def play(number: int) -> Scene | None:
        path = tmp_path / f"{number}.jsonl"
        disk = FaultyDisk(*range(number, number + calls))
        scene = Scene(Acknowledged(await JsonlSession.open(path, mutating=is_mutating, disk=disk)))
        await scene.play()
        done, promised = scene.done, tuple(scene.session.ids)
        assert (done.status == "failed") == (disk.calls >= number)
        assert done.error is None or done.error.kind == "storage"
        disk.failing = ()
        again = await JsonlSession.open(path, mutating=is_mutating, disk=CountingDisk())
        scene.check_kept(again.messages, promised)
        await scene.say_next()
        scene.check_kept(scene.session.messages, promised)
        again = await JsonlSession.open(path, mutating=is_mutating, disk=CountingDisk())
        assert [message.id for message in again.messages] == [
            message.id for message in scene.session.messages
        ]
        assert again.marks == ()
        return scene if done.status == "failed" else None

    numbers = count(1)
    while asyncio.run(play(next(numbers))):
        pass
    assert next(numbers) > 40
