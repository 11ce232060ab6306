"""A whole run to interfere with: five steps with all that a run can do, its doubles, and what must hold of its history.

A scene is played on any session. Whoever plays it may stop it anywhere, and asks it afterwards what was promised.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from anyio import CancelScope
from anyio.lowlevel import checkpoint

from app.engine import events
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.approval import AskFn
from app.engine.errors import ProviderError
from app.engine.frontier import SLOTS
from app.engine.harness import Harness
from app.engine.messages import Marker, Message, ToolCall
from app.engine.pairing import is_paired
from app.engine.provider import ModelRequest, ReasoningChunk, StreamBatch, TextChunk
from app.engine.runner import run
from app.engine.scripted import Reply, ScriptedModel, call, say
from app.engine.session import Session
from app.engine.steering import Hear, UserInput
from app.engine.tools import Tool as AnyTool
from app.engine.tools import ToolContext, ToolOutput
from app.infra.ids import new_id
from tests.fakes.clock import FakeClock

WINDOW = 8_000
PAGE = "The tide tables of this harbour, line by line. " * 130
"""A result of which a few fill the window."""

SUMMARY = "\n".join(f"## {slot}\nWhat belongs to {slot.lower()}." for slot in SLOTS)


def is_mutating(name: str) -> bool:
    return name == "write"


async def tidy() -> None:
    """What has to be put away takes a while, whoever is in a hurry."""
    with CancelScope(shield=True):
        for _ in range(8):
            await checkpoint()


class Tool:
    """Waits a little, shows progress, and returns its output; ``inside`` are those that have not left."""

    description = "For tests."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "additionalProperties": False,
    }

    def __init__(self, name: str, output: ToolOutput, *, read_only: bool = True) -> None:
        self.name = name
        self.read_only = read_only
        self.inside = 0
        self.effects: Counter[str] = Counter()
        self.returned: set[str] = set()
        self._output = output

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        self.inside += 1
        try:
            await checkpoint()
            context.progress("half-way", None, None)
            self.effects[context.call_id] += 1
            await checkpoint()
        except asyncio.CancelledError:
            await tidy()
            raise
        finally:
            self.inside -= 1
        self.returned.add(context.call_id)
        return self._output


class AskingGate:
    """The user is asked before every change, thinks about it, and allows it."""

    async def admit(self, asked: ToolCall, tool: AnyTool, ask: AskFn) -> ToolOutput | None:
        await checkpoint()
        if not tool.read_only:
            ask(events.Approval(f"ask_{asked.id}", asked.id, "change", asked.arguments))
            await checkpoint()
        return None


class Streaming(ScriptedModel):
    """A scripted model whose every batch is waited for."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        try:
            async with aclosing(super().stream(request)) as batches:
                async for batch in batches:
                    await checkpoint()
                    yield batch
        finally:
            await tidy()


class Waiting:
    """A list of messages that wait, kept until the session has stored them; the process may end in between."""

    def __init__(self) -> None:
        self.list: list[UserInput] = []
        self.said: list[UserInput] = []

    def say(self, text: str, id: str) -> None:
        self.said.append(UserInput(text, id))
        self.list.append(self.said[-1])

    async def fold_in(self, hear: Hear) -> list[UserInput]:
        told = list(self.list)
        if told:
            await hear(told)
            await checkpoint()
            self.list = [one for one in self.list if one not in told]
        return told


class Acknowledged:
    """A session that notes what it has promised to keep."""

    def __init__(self, session: Session) -> None:
        self.inner = session
        self.ids: list[str] = []
        self.durable: list[str] = []
        """Those that a power cut may not take either."""

    @property
    def id(self) -> str:
        return self.inner.id

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self.inner.messages)

    async def append(self, *messages: Message, sync: bool = True) -> None:
        await self.inner.append(*messages, sync=sync)
        self.ids += [message.id for message in messages]
        if sync:
            self.durable = list(self.ids)

    async def mark_started(self, call_id: str) -> None:
        await self.inner.mark_started(call_id)


@dataclass
class Scene:
    """Five steps: parallel reads one of which fails, a retry, a change, a compaction, an answer in two parts, a word of
    the user meanwhile, the end."""

    session: Acknowledged
    abort: Abort = field(default_factory=Abort)
    waiting: Waiting = field(default_factory=Waiting)
    happened: list[events.Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tools = {
            tool.name: tool
            for tool in (
                Tool("look", ToolOutput(PAGE)),
                Tool("fail", ToolOutput.failed("E_NOT_FOUND", "There is no such file.")),
                Tool("write", ToolOutput("Written. " + PAGE), read_only=False),
            )
        }
        self._replies = iter(
            [
                [
                    ReasoningChunk("Let me "),
                    ReasoningChunk("see."),
                    TextChunk("I look "),
                    TextChunk("first."),
                    call("look", "c1", 0, path="a"),
                    call("look", "c2", 1, path="b"),
                    call("fail", "c3", 2, path="c"),
                ],
                [ProviderError("server", "The server is down.")],
                [
                    TextChunk("Now I write."),
                    call("write", "c4", 0, path="a"),
                    call("look", "c5", 1, path="a"),
                ],
                [call("look", "c6", 0, path="d"), call("write", "c7", 1, path="d")],
                say("High water ", "is at", stop="output_limit"),
                say(" noon", " and midnight."),
                say("In metres: ", "1.2."),
            ]
        )
        self.model = Streaming(*[self._reply] * 20, window=WINDOW)
        self.clock = FakeClock()

    def _reply(self, request: ModelRequest) -> Reply:
        if "You write the summary" in request.system:
            return say(SUMMARY[:100], SUMMARY[100:])
        reply = next(self._replies)
        if len(self.model.requests) == 6:
            self.waiting.say("Say it in metres.", "steered")
        return reply

    async def play(self) -> None:
        await self._run([UserInput("When is high water?", "asked")], self.model)

    async def play_until(self, number: int) -> None:
        """Leave at the event of this number, counted from 0."""
        async with aclosing(self.events([UserInput("When is high water?", "asked")], self.model)) as played:
            async for event in played:
                self.happened.append(event)
                if len(self.happened) > number:
                    return

    async def play_and_stop_at(self, number: int) -> None:
        """The stop comes from whoever is shown the event of this number."""
        async for event in self.events([UserInput("When is high water?", "asked")], self.model):
            self.happened.append(event)
            if len(self.happened) == number + 1:
                self.abort.set()

    async def say_next(self) -> ModelRequest:
        """The next message of the user, answered; the request that was made for it."""
        self.happened, self.abort = [], Abort()
        model = Streaming(say("Fine."), say("Fine again."), window=10 * WINDOW)
        await self._run([UserInput("And then?", "next")], model)
        assert self.done.status == "completed"
        return model.requests[-1]

    async def _run(self, inputs: list[UserInput], model: ScriptedModel) -> None:
        async with aclosing(self.events(inputs, model)) as played:
            async for event in played:
                self.happened.append(event)

    def events(self, inputs: list[UserInput], model: ScriptedModel) -> Any:
        agent = Agent("tester", lambda: "You test.", self.tools)
        harness = Harness(model, self.clock, new_id, lambda: 0.5, gate=AskingGate())
        return run(agent, self.session, inputs, harness, abort=self.abort, steering=self.waiting)

    @property
    def done(self) -> events.Done:
        """The last event; there is exactly one."""
        ends = [event for event in self.happened if isinstance(event, events.Done)]
        assert ends == [self.happened[-1]]
        return ends[0]

    def check_closed(self) -> None:
        """How a run that could end by itself leaves its history."""
        messages = self.session.messages
        assert is_paired(messages)
        markers = [message for message in messages if message.blocks == (Marker("stopped_by_user"),)]
        assert markers == ([messages[-1]] if self.done.status == "aborted" else [])
        assert self.done.status in ("completed", "aborted")
        paid = sum(isinstance(event, events.Usage) for event in self.happened)
        assert paid >= len(self.model.requests)
        self._check_what_was_shown(messages)
        self._check_results(messages)
        self.check_kept(messages, self.session.ids)

    def check_kept(self, messages: tuple[Message, ...], promised: Sequence[str]) -> None:
        """What was acknowledged is there, once; a result says no more and no less than what the tool did."""
        ids = Counter(message.id for message in messages)
        assert set(ids.values()) <= {1}
        assert set(promised) <= set(ids)
        for said in self.waiting.said:
            assert ids[said.id] or said in self.waiting.list
        effects = self.tools["write"].effects
        for result in (result for message in messages for result in message.results):
            if result.call_id in ("c4", "c7"):
                possible = {"ok": {1}, "interrupted": {0}, "outcome_unknown": {0, 1}}[result.status]
                assert effects[result.call_id] in possible

    def check_quiet(self) -> None:
        """Nothing of the run goes on."""
        assert self.model.open_streams == 0
        assert [tool.inside for tool in self.tools.values()] == [0, 0, 0]

    def _check_what_was_shown(self, messages: tuple[Message, ...]) -> None:
        shown: defaultdict[str, str] = defaultdict(str)
        for event in self.happened:
            if isinstance(event, events.TextDelta):
                shown[event.message_id] += event.text
        told = {message.id: message.text for message in messages}
        assert {id: told.get(id) for id in shown} == shown

    def _check_results(self, messages: tuple[Message, ...]) -> None:
        """What a tool returned is told and kept, whatever comes between."""
        returned = {id for tool in self.tools.values() for id in tool.returned}
        ended = [event.call_id for event in self.happened if isinstance(event, events.ToolEnd)]
        known = [
            result.call_id
            for message in messages
            for result in message.results
            if result.status in ("ok", "error")
        ]
        assert sorted(ended) == sorted(known) == sorted(returned)
