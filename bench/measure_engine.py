"""The engine against a bare httpx client on the same fake model server, process time side by side.

The reference reads the same bytes with ``aiter_lines`` and ``json`` and keeps no promises; ours is a whole run.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from app.engine.agent import Agent
from app.engine.events import Done, TextDelta
from app.engine.harness import Harness
from app.engine.provider import ResolvedModel
from app.engine.runner import run
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolMap, ToolOutput
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.providers.openai_compatible import OpenAICompatible
from app.providers.transport import open_client
from bench.figure import Figure, interleaved, ratio
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, say

ROUNDS = 7
CHUNKS = 5000
STEPS = 50
LONG: Answer = {"steps": [{"text": "tide ", "times": CHUNKS}, {"finish": "stop"}, {"done": True}]}
WORKERS = 16
PACED = say(*["tide "] * 200, every_ms=10)
"""A hundred tokens a second."""
SHORT = say("High water ", "at noon.")


HOUR: dict[str, Any] = {
    "type": "object",
    "properties": {"hour": {"type": "integer"}},
    "required": ["hour"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Tide:
    """A tool that costs nothing, so that what is measured is the step around it."""

    name: str = "tide"
    description: str = "Height of the tide at an hour."
    read_only: bool = True
    parameters = HOUR

    async def execute(self, arguments: Any, context: ToolContext) -> ToolOutput:
        return ToolOutput("1.2 m, rising")


class Contest:
    """Both clients, on one loop and one server."""

    def __init__(self, llm: FakeLLM) -> None:
        self.client = httpx.AsyncClient(timeout=60, trust_env=False)
        self.ours = open_client()
        self.url = f"{llm.base_url}/chat/completions"
        self.provider = OpenAICompatible("bench", llm.base_url, None, self.ours)
        self.harness = Harness(self, SystemClock(), new_id, random.random)

    def resolve(self, name: str | None) -> ResolvedModel:
        return ResolvedModel(self.provider, "m")

    async def close(self) -> None:
        await self.client.aclose()
        await self.ours.aclose()

    async def run(self, session: Session, tools: ToolMap | None = None) -> float:
        """A whole run; seconds to its first text."""
        agent = Agent("pilot", lambda: "You read tide tables.", tools or {}, step_limit=STEPS + 1)
        begun, first = time.perf_counter(), 0.0
        async with aclosing(
            run(agent, session, [UserInput("How high?", new_id("msg"))], self.harness)
        ) as events:
            async for event in events:
                if isinstance(event, TextDelta) and not first:
                    first = time.perf_counter() - begun
                if isinstance(event, Done):
                    assert event.status == "completed", event
        return first

    async def ask_bare(
        self, messages: list[dict[str, Any]], **extra: Any
    ) -> tuple[float, list[dict[str, Any]]]:
        """One streamed request; seconds to its first text, and the tool calls it asked for."""
        begun, first, calls = time.perf_counter(), 0.0, []
        body = {"model": "m", "messages": messages, "stream": True, **extra}
        async with self.client.stream("POST", self.url, json=body) as answer:
            async for line in answer.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    if choice["delta"].get("content") and not first:
                        first = time.perf_counter() - begun
                    calls += choice["delta"].get("tool_calls", [])
        return first, calls

    async def loop_bare(self) -> None:
        """The least that an agent loop can be: append, ask, answer each call."""
        tool = Tide()
        function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        messages: list[dict[str, Any]] = [{"role": "user", "content": "How high?"}]
        while True:
            _, fragments = await self.ask_bare(messages, tools=[{"type": "function", "function": function}])
            if not fragments:
                return
            arguments = "".join(fragment["function"].get("arguments", "") for fragment in fragments)
            asked = {"name": tool.name, "arguments": arguments}
            calls = [{"id": fragments[0]["id"], "type": "function", "function": asked}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages.append({"role": "tool", "tool_call_id": fragments[0]["id"], "content": "1.2 m, rising"})


def measure() -> Iterator[Figure]:
    with FakeLLM() as llm, asyncio.Runner() as runner, TemporaryDirectory() as folder:
        contest = Contest(llm)

        def cpu(work: Callable[[], Awaitable[Any]], *answers: Answer) -> Callable[[], float]:
            def once() -> float:
                llm.script(*answers)
                begun = time.process_time()
                runner.run(work())
                return time.process_time() - begun

            return once

        def first_text(work: Callable[[], Awaitable[float]]) -> Callable[[], float]:
            def once() -> float:
                llm.script(SHORT)
                return runner.run(work())

            return once

        async def bare() -> float:
            return (await contest.ask_bare([{"role": "user", "content": "How high?"}]))[0]

        async def whole() -> float:
            return await contest.run(MemorySession(new_id("ses")))

        async def durable() -> None:
            path = Path(folder) / f"{new_id('ses')}.jsonl"
            await contest.run(await JsonlSession.open(path), {"tide": Tide()})

        ours, reference = interleaved(ROUNDS, cpu(whole, LONG), cpu(bare, LONG))
        yield ratio(f"{CHUNKS:,} chunks to the consumer, CPU", ours, reference, 0.7, unit="ms", scale=1000)

        steps = [say(calls=[call("tide", {"hour": hour})]) for hour in range(STEPS)]
        ours, reference = interleaved(
            ROUNDS * 5, cpu(durable, *steps, SHORT), cpu(contest.loop_bare, *steps, SHORT)
        )
        yield ratio(f"{STEPS} tool steps, stored durably, CPU", ours, reference, 1.0, unit="ms", scale=1000)

        async def all_ours() -> None:
            await asyncio.gather(*(whole() for _ in range(WORKERS)))

        async def all_bare() -> None:
            await asyncio.gather(*(bare() for _ in range(WORKERS)))

        paced = [PACED] * WORKERS
        ours, reference = interleaved(ROUNDS, cpu(all_ours, *paced), cpu(all_bare, *paced))
        yield ratio(f"{WORKERS} workers at 100 tokens/s, CPU", ours, reference, 1.2, unit="ms", scale=1000)

        ours, reference = interleaved(ROUNDS * 5, first_text(whole), first_text(bare))
        added = (median(ours) - median(reference)) * 1000
        yield Figure(
            "added time to the first token", added, "ms", 1.0, f"to {median(reference) * 1000:.1f} ms"
        )
        runner.run(contest.close())
