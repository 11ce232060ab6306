"""A step of the engine alone, on a model that answers at once: its own time, its growth, side by side, and the stop."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.events import Done, TextDelta, ToolStart
from app.engine.harness import Harness
from app.engine.messages import Message, Text, ToolCall, ToolResult
from app.engine.provider import ModelRequest, Stop, StreamBatch, TextChunk
from app.engine.runner import run
from app.engine.scripted import Reply, ScriptedModel, call, say
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolMap, ToolOutput
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from bench.figure import Figure

STEPS = 200
READ_SECONDS = 0.2
READS = 8
OLD = 2_000
"""Messages in the history of a long conversation."""


@dataclass(frozen=True)
class Read:
    """Takes its time, as a disk or a network does."""

    seconds: float = 0.0
    name: str = "read"
    description: str = "Reads a page."
    read_only: bool = True

    @property
    def parameters(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"page": {"type": "integer"}}, "additionalProperties": False}

    async def execute(self, arguments: Any, context: ToolContext) -> ToolOutput:
        await asyncio.sleep(self.seconds)
        return ToolOutput("one page")


class Timed(ScriptedModel):
    """Notes when an answer ended and when the next request came."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(*replies, window=10_000_000)
        self.gaps: list[float] = []
        self._ended = 0.0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        if self._ended:
            self.gaps.append(time.perf_counter() - self._ended)
        async for batch in super().stream(request):
            yield batch
        self._ended = time.perf_counter()


async def drain(model: ScriptedModel, session: Session, tools: ToolMap, **more: Any) -> Done:
    harness = Harness(model, SystemClock(), new_id, random.random)
    agent = Agent("pilot", lambda: "You read.", tools, step_limit=STEPS + 1)
    async for event in run(agent, session, [UserInput("Go.", new_id("msg"))], harness, **more):
        if isinstance(event, Done):
            return event
    raise AssertionError("a run ends with a Done")


def replies(steps: int) -> list[Reply]:
    return [*([call("read", new_id("call"), page=number)] for number in range(steps)), say("Read.")]


async def gaps(folder: Path, old: int) -> Sequence[float]:
    """Seconds between an answer's end and the next request, in a history of ``old`` messages."""
    session = await JsonlSession.open(folder / f"{new_id('ses')}.jsonl")
    await session.append(*history(old))
    model = Timed(*replies(STEPS))
    await drain(model, session, {"read": Read()})
    return model.gaps


def history(size: int) -> list[Message]:
    now = "2026-11-30T14:00:00.000Z"
    turns: list[Message] = []
    for number in range(size // 4):
        asked = ToolCall(f"old{number}", "read", {"page": number})
        turns += [
            Message("user", (Text("Read the next page, please."),), f"u{number}", now),
            Message("assistant", (asked,), f"a{number}", now),
            Message("tool", (ToolResult(asked.id, "one page " * 20),), f"t{number}", now),
            Message("assistant", (Text("It says nothing new."),), f"e{number}", now),
        ]
    return turns


async def side_by_side() -> float:
    """Wall time of a step with eight equal reads against one of them."""
    calls: Reply = [call("read", new_id("call"), index, page=index) for index in range(READS)]
    begun = time.perf_counter()
    await drain(ScriptedModel(calls, say("Read.")), MemorySession("s"), {"read": Read(READ_SECONDS)})
    return (time.perf_counter() - begun) / READ_SECONDS


async def stop_after(kind: type, *script: Reply) -> float:
    """Seconds from the stop to the ``Done``, once the run is in the middle of such an event."""
    abort = Abort()
    agent = Agent("pilot", lambda: "", {"read": Read(60)})
    harness = Harness(ScriptedModel(*script), SystemClock(), new_id, random.random)
    stopped = 0.0
    async for event in run(agent, MemorySession("s"), [UserInput("Go.", "u")], harness, abort=abort):
        if isinstance(event, kind) and not stopped:
            stopped = time.perf_counter()
            asyncio.get_running_loop().call_later(0.05, abort.set)
    return time.perf_counter() - stopped - 0.05


class Stalled(ScriptedModel):
    """Says a word and no more."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        yield (TextChunk("Well"),)
        await asyncio.sleep(60)
        yield (Stop("end"),)


async def stop_in_a_stream() -> float:
    abort, stopped = Abort(), 0.0
    harness = Harness(Stalled(), SystemClock(), new_id, random.random)
    agent = Agent("pilot", lambda: "")
    async for event in run(agent, MemorySession("s"), [UserInput("Go.", "u")], harness, abort=abort):
        if isinstance(event, TextDelta):
            stopped = time.perf_counter()
            asyncio.get_running_loop().call_later(0.05, abort.set)
    return time.perf_counter() - stopped - 0.05


READY = """
import sys, time
begun = time.perf_counter()
import app.engine.runner, app.engine.session, app.providers.openai_compatible, app.providers.transport
print(time.perf_counter() - begun)
print(next((l.split()[1] for l in open("/proc/self/status") if l.startswith("VmRSS")), "0"))
"""


def ready() -> tuple[float, float]:
    """Seconds to import the engine and a direct wire, and megabytes afterwards."""
    told = subprocess.run([sys.executable, "-c", READY], capture_output=True, check=True, text=True)
    seconds, kilobytes = told.stdout.split()
    return float(seconds), int(kilobytes) * 1024 / 1e6


def measure() -> Iterator[Figure]:
    with asyncio.Runner() as runner, TemporaryDirectory() as name:
        folder = Path(name)
        young = runner.run(gaps(folder, 0))
        old = runner.run(gaps(folder, OLD))
        yield Figure("from an answer's end to the next request", median(young) * 1000, "ms", 3.0)
        growth = median(young[-10:]) / median(young[:10])
        yield Figure(f"last 10 of {STEPS} steps against the first 10", growth, "×", 2.0)
        ratio = median(old) / median(young)
        yield Figure(
            f"the same in a history of {OLD:,} messages", ratio, "×", 2.0, f"{median(old) * 1000:.2f} ms"
        )
        together = [runner.run(side_by_side()) for _ in range(3)]
        yield Figure(f"{READS} reads in one step against one", median(together), "×", 1.3)
        in_tool = [runner.run(stop_after(ToolStart, [call("read", "c")])) for _ in range(3)]
        yield Figure("from a stop in a tool to quiet", median(in_tool) * 1000, "ms", 200)
        in_stream = [runner.run(stop_in_a_stream()) for _ in range(3)]
        yield Figure("from a stop in a stream to quiet", median(in_stream) * 1000, "ms", 200)
    starts = [ready() for _ in range(5)]
    yield Figure("engine and a wire imported", median(seconds for seconds, _ in starts), "s", 0.35)
    yield Figure("memory then", median(memory for _, memory in starts), "MB", 50)
