"""A step of a long history costs what a step of a short one does, but for sending it: work is counted, never timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from app.engine import runner
from app.engine.messages import Message
from app.engine.provider import ModelRequest, UsageReport
from app.engine.scripted import Reply, ScriptedModel, call, say
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.steering import UserInput
from tests.engine.histories import generated
from tests.engine.test_runner import Tool, agent, done_of, harness
from tests.engine.wires import WIRES, tools
from tests.fakes.disk import CountingDisk

pytestmark = pytest.mark.anyio

ENGINE = str(Path(runner.__file__).parent)
SAME = 1.05


class Work:
    """Counts the lines of the engine that are run, each turn of a loop anew. What a built-in does is one line."""

    def __init__(self) -> None:
        self.lines = 0

    def begin(self) -> None:
        sys.settrace(self._enter)

    def end(self) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, what: str, _: Any) -> Callable[..., Any] | None:
        return self._count if frame.f_code.co_filename.startswith(ENGINE) else None

    def _count(self, frame: FrameType, what: str, _: Any) -> Callable[..., Any]:
        self.lines += what == "line"
        return self._count


class Steps:
    """A run of many steps that notes the work up to each of its requests, which are written for a wire."""

    def __init__(self, steps: int, *, reported: bool) -> None:
        self._steps = steps
        self.work = Work()
        self.marks: list[int] = []
        self.model = ScriptedModel(*[self._reply] * (steps + 1), window=100_000_000)
        self._compiler = WIRES[0].compiler()
        self._report = [UsageReport(1_000, 10)] if reported else []

    def _reply(self, request: ModelRequest) -> Reply:
        self._compiler.compile(request)
        if not self.marks:  # the first step has to look at the whole history once
            self.work.begin()
        self.marks.append(self.work.lines)
        step = len(self.marks)
        if step > self._steps:
            return [*self._report, *say("ok")]
        return [*self._report, call("look", f"k{step}", path=f"page {step}")]

    async def run(self, session: Session) -> list[int]:
        """The work of each step but the first."""
        look = agent(Tool("look"), Tool("read_file"), step_limit=2 * self._steps)
        inputs = [UserInput("Read all pages.", "u1")]
        try:
            happened = [event async for event in runner.run(look, session, inputs, harness(self.model))]
        finally:
            self.work.end()
        assert done_of(happened).steps == self._steps + 1
        return [later - earlier for earlier, later in pairwise(self.marks)]


async def session_with(history: tuple[Message, ...], path: Path | None) -> Session:
    session = await JsonlSession.open(path, disk=CountingDisk()) if path else MemorySession("s")
    await session.append(*history)
    return session


@pytest.mark.parametrize(("stored", "reported"), [(False, True), (True, False)])
async def test_a_step_costs_the_same_at_the_end_of_a_long_run_and_after_a_long_history(
    tmp_path: Path, stored: bool, reported: bool
) -> None:
    short = await session_with(generated(1), tmp_path / "short.jsonl" if stored else None)
    long = await session_with(generated(500), tmp_path / "long.jsonl" if stored else None)
    many = await Steps(200, reported=reported).run(short)
    assert max(many[-10:]) <= SAME * min(many[:10])
    few = await Steps(10, reported=reported).run(long)
    assert max(few) <= SAME * min(many[:10])


def test_a_wire_writes_only_what_is_new() -> None:
    for wire in WIRES:
        lines = []
        for turns in (10, 1_000):
            history, compiler = generated(turns), wire.compiler()
            request = ModelRequest("model-a", "Be brief.", history, tools("read_file"))
            compiler.compile(request)
            new = generated(turns + 1)[-4:]
            work = Work()
            work.begin()
            compiler.compile(replace(request, messages=(*history, *new)))
            work.end()
            lines.append(work.lines)
        assert lines[1] <= SAME * lines[0], wire.name
