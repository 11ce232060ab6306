"""One session through all that may happen to it, in any order: runs, stops, crashes, other models, foreign lines.

Each life is a random walk of the rules below; what a session promises is looked at after every step of it.
``--lives`` says how many are lived.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec import structs

from app.engine import events
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.compiler import Compiler
from app.engine.errors import ProviderError, ProviderErrorKind
from app.engine.harness import Harness
from app.engine.messages import Image, Marker, Message, Text
from app.engine.pairing import is_paired, open_calls, repair
from app.engine.provider import (
    CallFragment,
    ModelRequest,
    ReasoningChunk,
    ResolvedModel,
    Stop,
    StopReason,
    StreamBatch,
    TextChunk,
    ToolDefinition,
)
from app.engine.runner import run
from app.engine.session import JsonlSession, Session
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolOutput, define
from app.engine.view import view
from app.infra.ids import new_id
from tests.engine.histories import NOON, hurt_histories, wild_histories
from tests.engine.scenes import PAGE, SUMMARY, Acknowledged, Waiting, is_mutating
from tests.engine.wires import WIRES
from tests.fakes.clock import FakeClock
from tests.fakes.disk import CountingDisk, CuttableDisk, Fate, PowerCut
from tests.fakes.pictures import PIXEL

T = TypeVar("T")

NEVER = 10**9
NEXT = Message("user", (Text("And then?"),), "next", NOON)

words = st.sampled_from(["High ", "water 👍 ", " ", "half \ud83d", PAGE, SUMMARY])
outputs = st.sampled_from(
    [
        ToolOutput("done"),
        ToolOutput(""),
        ToolOutput(PAGE),
        ToolOutput("seen", (Image(media_type="image/png", data=PIXEL),)),
        ToolOutput.failed("E_NOT_FOUND", "There is no such file."),
        None,
    ]
)
asked = st.builds(
    CallFragment,
    index=st.none(),
    id=st.sampled_from([None, "k", "k0", "k1", "k2"]),
    name=st.sampled_from(["look", "look", "write", "write", "draw"]),
    arguments=st.sampled_from(['{"path": "a"}', '{"path": "b"}', "{}", '{"path": "a', '{"path": "\\ud83d"}']),
)
failures = st.sampled_from(["server", "overloaded", "dropped", "auth", "overflow", "policy"])


foreign_lines = st.sampled_from([b"torn", b'{"id": 1}\n', b"\n\n", b"\xff\xfe\n"])


class Inline(asyncio.SelectorEventLoop):
    """Work for a thread is done on the spot, so that a life is the same each time it is lived."""

    def run_in_executor(self, executor: Any, work: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(work(*args))
        except Exception as error:  # noqa: BLE001 - whoever awaits it gets it
            future.set_exception(error)
        return future


class Mains(CuttableDisk):
    """A disk whose power goes when it is told to."""

    def __init__(self) -> None:
        super().__init__(NEVER, "kept")

    def cut_after(self, calls: int, fate: Fate) -> None:
        self._cut, self._fate = self.calls + calls, fate

    @property
    def is_off(self) -> bool:
        return self.calls >= self._cut

    @property
    def fate(self) -> Fate:
        return self._fate


class Desk:
    """A model that says what the walk makes it say; each request is written for every wire and looked at there."""

    def __init__(self, looked_at: Callable[[ModelRequest], None]) -> None:
        self.open_streams = 0
        self._looked_at = looked_at
        self._said: asyncio.Queue[StreamBatch | ProviderError | None] = asyncio.Queue()
        self._listening = False

    @property
    def waits(self) -> bool:
        return self._listening and self._said.empty()

    def says(self, said: StreamBatch | ProviderError | None) -> None:
        """None is the end of the stream."""
        self._said.put_nowait(said)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        self._looked_at(request)
        self._said = asyncio.Queue()
        self.open_streams += 1
        self._listening = True
        try:
            while (said := await self._said.get()) is not None:
                if isinstance(said, ProviderError):
                    raise said
                yield said
        finally:
            self._listening = False
            self.open_streams -= 1


class Named:
    """One of the sources that lead to the desk."""

    def __init__(self, id: str, desk: Desk, window: int) -> None:
        self.id = id
        self.window = window
        self.stream = desk.stream

    def resolve(self, name: str | None) -> ResolvedModel:
        return ResolvedModel(self, f"{self.id}-model", f"https://{self.id}.example", self.window)  # type: ignore[arg-type]


class Held:
    """A tool whose calls end when the walk says so. A change is made before that."""

    description = "For tests."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "additionalProperties": False,
    }

    def __init__(self, name: str, running: list[asyncio.Future[ToolOutput]]) -> None:
        self.name = name
        self.read_only = not is_mutating(name)
        self.made: Counter[str] = Counter()
        self._running = running

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        self.made[context.call_id] += 1
        ends: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
        self._running.append(ends)
        try:
            context.progress("begun", None, None)
            return await ends
        finally:
            self._running.remove(ends)


class Life(RuleBasedStateMachine):
    """``live`` is a run that has not ended; everything else waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = Inline()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "s.jsonl"
        self.running: list[asyncio.Future[ToolOutput]] = []
        self.tools = {name: Held(name, self.running) for name in ("look", "write")}
        self.desk = Desk(self.look_at_request)
        self.source = Named("one", self.desk, 8_000)
        self.waiting = Waiting()
        self.task: asyncio.Task[None] | None = None
        self.inputs: Sequence[UserInput] = ()
        self.happened: list[events.Event] = []
        self.promised: list[str] = []
        self.prefix = b""
        self.numbers = 0
        self.imported = 0
        self.compilers = self.new_compilers()
        self.boot()

    def teardown(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.loop.run_until_complete(self.settled())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        self.folder.cleanup()

    # What happens

    @precondition(lambda self: not self.live)
    @rule(text=st.sampled_from(["How high?", "And in Genoa?", "x" * 4_000]))
    def the_user_says(self, text: str) -> None:
        self.start([UserInput(text, self.number("u"))])

    @precondition(lambda self: not self.live and self.session.messages)
    @rule()
    def the_run_goes_on(self) -> None:
        self.start([])

    @precondition(lambda self: self.desk.waits)
    @rule(text=words, thinking=st.booleans())
    def the_model_writes(self, text: str, thinking: bool) -> None:
        self.desk.says((ReasoningChunk(text) if thinking else TextChunk(text),))

    @precondition(lambda self: self.desk.waits)
    @rule(calls=st.lists(asked, min_size=1, max_size=4))
    def the_model_calls(self, calls: list[CallFragment]) -> None:
        numbered = [replace(call, index=number) for number, call in enumerate(calls)]
        self.desk.says((*numbered, Stop("tool_calls")))
        self.desk.says(None)

    @precondition(lambda self: self.desk.waits)
    @rule(text=words, stop=st.sampled_from(["end", None, *get_args(StopReason)]))
    def the_model_ends(self, text: str, stop: StopReason | None) -> None:
        self.desk.says((TextChunk(text), Stop(stop)) if stop is not None else (TextChunk(text),))
        self.desk.says(None)

    @precondition(lambda self: self.desk.waits)
    @rule(kind=failures)
    def the_model_fails(self, kind: ProviderErrorKind) -> None:
        self.desk.says(ProviderError(kind, "It failed."))

    @precondition(lambda self: self.running)
    @rule(place=st.integers(0, 3), output=outputs)
    def a_tool_ends(self, place: int, output: ToolOutput | None) -> None:
        """None is a defect of the tool."""
        ends = self.running[place % len(self.running)]
        if output is None:
            ends.set_exception(RuntimeError("a defect"))
        else:
            ends.set_result(output)

    @precondition(lambda self: self.live)
    @rule(text=words.filter(str.strip))
    def the_user_steers(self, text: str) -> None:
        self.waiting.say(text, self.number("s"))

    @rule(trouble=st.sampled_from(["stop", "cancel", "dies", "power", "foreign lines"]), data=st.data())
    def something_comes_between(self, trouble: str, data: st.DataObject) -> None:
        if trouble == "stop" and self.live:
            self.loop.call_soon(self.abort.set)
        elif trouble == "cancel" and self.task is not None:
            self.task.cancel()
        elif trouble == "dies":
            self.disk.cut_after(1, data.draw(st.sampled_from(["kept", "lost"])))
            with pytest.raises(PowerCut):
                self.disk.open(self.path, 0)
        elif trouble == "power":
            self.disk.cut_after(data.draw(st.integers(1, 8)), data.draw(st.sampled_from(get_args(Fate))))
        elif trouble == "foreign lines" and not self.live:
            with self.path.open("ab") as file:
                file.write(data.draw(foreign_lines))
            self.boot()

    @rule(window=st.sampled_from([3_000, 8_000, 100_000]), id=st.sampled_from(["one", "two"]))
    def another_model_is_chosen(self, window: int, id: str) -> None:
        """For the runs from now on."""
        self.source = Named(id, self.desk, window)

    @precondition(lambda self: not self.live)
    @rule(history=wild_histories() | hurt_histories())
    def a_history_is_imported(self, history: tuple[Message, ...]) -> None:
        self.imported += 1
        foreign = [structs.replace(message, id=f"i{self.imported}-{message.id}") for message in history]
        self.do(self.session.inner.append(*foreign))

    # What it takes to make it happen

    @property
    def live(self) -> bool:
        return self.task is not None

    def number(self, prefix: str) -> str:
        self.numbers += 1
        return f"{prefix}{self.numbers}"

    def new_compilers(self) -> list[tuple[Any, Compiler]]:
        return [(wire, wire.compiler()) for wire in WIRES]

    def boot(self) -> None:
        self.disk = Mains()
        session: Session = self.do(
            JsonlSession.open(self.path, mutating=is_mutating, disk=self.disk, monotonic=float)
        )
        self.session = Acknowledged(session)
        self.session.ids += self.promised
        self.session.durable = list(self.promised)

    def do(self, work: Awaitable[T]) -> Any:
        try:
            return self.loop.run_until_complete(work)  # type: ignore[arg-type]
        except PowerCut:
            return None  # the next look at the disk starts the process anew

    def start(self, inputs: Sequence[UserInput]) -> None:
        self.abort, self.happened, self.inputs = Abort(), [], inputs
        agent = Agent("tester", lambda: "You test.", self.tools, step_limit=6)
        harness = Harness(self.source, FakeClock(), new_id, lambda: 0.5)
        played = run(agent, self.session, inputs, harness, abort=self.abort, steering=self.waiting)
        self.task = self.loop.create_task(self.play(played))

    async def play(self, played: AsyncGenerator[events.Event, None]) -> None:
        try:
            async for event in played:
                self.happened.append(event)
        finally:
            await played.aclose()

    async def settled(self) -> None:
        """Until whoever is still at work waits for the walk."""
        while True:
            for _ in range(40):
                await asyncio.sleep(0)
            if self.task is None or self.task.done() or self.desk.waits or self.running:
                return
            await asyncio.sleep(0.0002)

    # What holds

    @invariant()
    def all_promises_are_kept(self) -> None:
        self.loop.run_until_complete(self.settled())
        if self.task is not None and self.task.done():
            self.look_at_end(self.task)
            self.task = None
        if self.disk.is_off:
            self.restart()
        self.look_at_history()
        self.look_at_file()

    def restart(self) -> None:
        if self.task is not None:
            self.task.cancel()
            self.loop.run_until_complete(asyncio.wait([self.task]))
            self.task = None
        self.promised = self.session.ids if self.disk.fate == "kept" else self.session.durable
        self.boot()

    def look_at_end(self, task: asyncio.Task[None]) -> None:
        assert self.desk.open_streams == 0
        assert self.running == []
        if task.cancelled() or isinstance(task.exception(), PowerCut):
            return
        task.result()
        ends = [event for event in self.happened if isinstance(event, events.Done)]
        assert ends == [self.happened[-1]]
        assert is_paired(self.session.messages)
        if ends[0].status == "aborted":
            assert self.session.messages[-1].blocks == (Marker("stopped_by_user"),)

    def look_at_history(self) -> None:
        messages = self.session.messages
        roles = [message.role for message in messages]
        closed = len(roles) - roles[::-1].index("assistant") - 1 if open_calls(messages) else len(roles)
        assert is_paired(messages[:closed])
        repaired = repair(messages)
        assert is_paired(repaired)
        assert repair(repaired) == repaired
        ids = Counter(message.id for message in messages)
        assert set(self.session.ids) <= set(ids)
        for said in self.waiting.said:
            assert ids[said.id] == 1 or (said in self.waiting.list and ids[said.id] == 0)
        made = self.tools["write"].made
        assert set(made.values()) <= {1}
        for result in (result for message in messages for result in message.results):
            if result.call_id in made:
                assert result.status != "interrupted"
        asked = ModelRequest("m", "You test.", (*view(messages).messages, NEXT), self.offered)
        for wire, compiler in self.compilers:
            wire.looked_at(compiler.compile(asked))

    def look_at_file(self) -> None:
        data = self.path.read_bytes() if self.path.exists() else b""
        assert data.startswith(self.prefix)
        if self.session.durable == self.session.ids:
            self.prefix = data
        if not self.live and not open_calls(self.session.messages):
            again = self.do(JsonlSession.open(self.path, mutating=is_mutating, disk=CountingDisk()))
            assert again.messages == self.session.messages

    def look_at_request(self, request: ModelRequest) -> None:
        if request.tools:
            seen = view(self.session.messages).messages
            assert request.messages[: len(seen)] == seen
            assert is_paired(request.messages)
            self.look_at_last_words(request)
        # How a wire says that no tool may be called is a matter of its own, and not of the history.
        asked = replace(request, tools=self.offered, tool_choice="auto")
        for wire, compiler in self.compilers:
            wire.looked_at(compiler.compile(asked))

    def look_at_last_words(self, request: ModelRequest) -> None:
        """What the user said last to this run stands in each of its requests, whatever was summarised."""
        ids = [message.id for message in self.session.messages]
        asked = [ids.index(said.id) for said in self.inputs]
        steered = [ids.index(said.id) for said in self.waiting.said if said.id in ids]
        last = max([*asked, *(place for place in steered if asked and place > asked[0])], default=None)
        assert last is None or self.session.messages[last] in request.messages

    @property
    def offered(self) -> tuple[ToolDefinition, ...]:
        return define(self.tools)  # type: ignore[arg-type]


def test_a_session_keeps_its_promises_through_any_life(request: pytest.FixtureRequest) -> None:
    lives = request.config.getoption("--lives")
    run_state_machine_as_test(Life, settings=settings(max_examples=lives, stateful_step_count=40))
