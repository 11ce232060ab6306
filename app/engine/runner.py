"""run(): the loop. One async generator; everything else in the engine serves it.

store the input → ask the model → run its calls → ask again, while there are calls
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import count

from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.asking import Asking, CutOff
from app.engine.errors import Aborted, ProviderError, SessionError
from app.engine.events import Done, DoneStatus, Event, Failure, Steer
from app.engine.harness import Harness
from app.engine.hurry import Hurry
from app.engine.large_results import most_for
from app.engine.loop_guard import LoopGuard
from app.engine.messages import Marker, Message, Text, ToolCall
from app.engine.metering import Meter
from app.engine.pairing import close_step, open_calls
from app.engine.session import Session
from app.engine.steering import NoSteering, Steering, UserInput
from app.engine.tool_calls import StepCalls
from app.infra.clock import iso
from app.prompts.rendering import compose

WARN_AT = 0.8
"""Share of the steps after which the model is told how many are left."""


async def run(
    agent: Agent,
    session: Session,
    inputs: Sequence[UserInput],
    harness: Harness,
    *,
    abort: Abort | None = None,
    steering: Steering | None = None,
    hurry: Hurry | None = None,
) -> AsyncGenerator[Event, None]:
    """Run one agent from its inputs to exactly one ``Done``, yielding all that happens on the way.

    Without inputs the run goes on from where the history stands. Errors of models, tools and the session
    become the ``Done``; only cancellation from outside and defects of the engine leave as exceptions.
    """
    this = _Run(agent, session, harness, abort or Abort(), steering or NoSteering(), hurry or Hurry())
    try:
        await this.close_open_step()
        await this.listen(inputs)
        async with aclosing(this.loop()) as events:
            async for event in events:
                yield event
        done = this.done("completed")
    except Aborted:
        done = await this.close_aborted()
    except CutOff as cut:
        done = await this.close_cut_off(cut)
    except Limit as limit:
        done = this.done("limit", reason=limit.reason)
    except ProviderError as error:
        reason = "budget" if error.kind == "budget" else None
        done = this.done("failed", reason=reason, error=Failure(error.kind, error.message))
    except SessionError as error:
        done = this.done("failed", error=Failure("storage", str(error)))
    yield done


async def collect(events: AsyncGenerator[Event, None]) -> Done:
    """Drain a run and return its ``Done``, for callers who want only the result."""
    async for event in events:
        if isinstance(event, Done):
            return event
    raise AssertionError("a run ends with a Done")


class Limit(Exception):
    """The run took as many steps as its agent may (``steps``), or went in circles (``loop``)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Run:
    """The state of one run, and its steps in the order in which the loop takes them."""

    def __init__(
        self, agent: Agent, session: Session, harness: Harness, abort: Abort, steering: Steering, hurry: Hurry
    ) -> None:
        self.agent = agent
        self.session = session
        self.harness = harness
        self.abort = abort
        self.steering = steering
        self.meter = Meter()
        self.guard = LoopGuard()
        self.asking = Asking(agent, session, harness, abort, hurry, self.meter)
        self.calls: StepCalls | None = None
        self.last_text = ""
        self.is_handed_over = False
        """Somebody else speaks next."""

    async def loop(self) -> AsyncGenerator[Event, None]:
        for step in count(1):
            closing = step > self.agent.step_limit
            if not closing:
                self.meter.steps = step
            async with aclosing(self.asking.ask(closing=closing)) as events:
                async for event in events:
                    yield event
            calls = await self.keep_answer(closing=closing)
            if closing:
                raise Limit("steps")
            if calls:
                async with aclosing(self.run_calls(calls)) as events:
                    async for event in events:
                        yield event
            steered = await self.steering.fold_in(self.heed)
            for said in steered:
                yield Steer(said.text, said.id)
            if not steered and (not calls or self.is_handed_over):
                return

    async def close_open_step(self) -> None:
        """An earlier run was cut off between a call and its result: what is said from here on comes after that."""
        if open_calls(self.session.messages):
            # The session makes up the results, as it knows which calls were begun.
            now = iso(self.harness.clock.now())
            marker = Message("assistant", (Marker("interrupted"),), self.harness.new_id("msg"), now)
            await self.session.append(marker)

    async def listen(self, inputs: Sequence[UserInput]) -> None:
        """Store what the user said, as it was said. What is stored already is not said twice."""
        heard = {message.id for message in self.session.messages} if inputs else ()
        now = iso(self.harness.clock.now())
        messages = [
            Message("user", (Text(said.text), *said.images), said.id, now)
            for said in inputs
            if said.id not in heard
        ]
        if messages:
            await self.session.append(*messages)

    async def heed(self, inputs: Sequence[UserInput]) -> None:
        """``listen`` to what was said meanwhile; after a stop it stays where it waits."""
        self.abort.check()
        await self.listen(inputs)
        self.guard = LoopGuard()

    async def keep_answer(self, *, closing: bool) -> tuple[ToolCall, ...]:
        """Store the answer, whole; its calls are what the loop goes on with.

        Raises ``CutOff`` where the text ends before its end, ``ProviderError`` where the model refused.
        """
        answer = self.asking.answer
        assert answer is not None
        calls = () if closing else answer.calls()
        if not calls and answer.stop is None:
            sentence = f"{self.asking.label} stopped in the middle of its answer."
            raise CutOff("dropped", ProviderError("dropped", sentence))
        if not calls and answer.stop == "output_limit":
            raise CutOff("output_limit")
        await self.store_answer(calls)
        if not calls and answer.stop in ("filtered", "refused"):
            label = self.asking.label
            raise ProviderError("policy", f"{label} declined to answer this. Rephrase the request.")
        return calls

    async def store_answer(self, calls: tuple[ToolCall, ...] = ()) -> None:
        """Without its calls where it broke: what was still arriving is not part of it."""
        answer, message = self.asking.take(calls)
        if answer is not None:
            self.last_text = answer.text
        if message is not None:
            # What only looks can be asked for again, so neither its calls nor its results wait for the disk.
            await self.session.append(message, sync=not calls or self.may_change(calls))

    def may_change(self, calls: tuple[ToolCall, ...]) -> bool:
        tools = self.agent.tools
        return any(call.name in tools and not tools[call.name].read_only for call in calls)

    async def run_calls(self, calls: tuple[ToolCall, ...]) -> AsyncGenerator[Event, None]:
        """Run the calls of one step; their results are stored in declared order."""
        self.calls = StepCalls(
            calls,
            self.agent.tools,
            self.session,
            self.abort,
            self.harness,
            self.guard,
            most_tokens=most_for(self.asking.window),
            note=self.note(),
        )
        async with aclosing(self.calls.run()) as events:
            async for event in events:
                yield event
        if self.end_calls():
            raise Limit("loop")

    def note(self) -> str | None:
        """What the model is told about its steps, if anything, when it reads the results of this one."""
        used, steps = self.meter.steps, self.agent.step_limit
        if used == steps:
            return compose("last_step", steps=steps)
        return compose("steps_left", used=used, steps=steps) if used == round(steps * WARN_AT) else None

    def end_calls(self) -> bool:
        """Count what failed; whether the run went in circles."""
        calls, self.calls = self.calls, None
        if calls is None:
            return False
        for failure in calls.failures:
            self.meter.count_failure(failure)
        self.is_handed_over = calls.ends_run
        return calls.loop is not None

    async def close_aborted(self) -> Done:
        """The user stopped: keep what was said and done, answer every open call, close with a marker."""
        try:
            await self.store_answer()
            if self.calls is not None:
                await self.calls.close()
                self.end_calls()
            now = iso(self.harness.clock.now())
            await self.session.append(
                *close_step(self.session.messages, new_id=self.harness.new_id, time=now)
            )
        except SessionError as error:
            return self.done("aborted", error=Failure("storage", str(error)))
        return self.done("aborted")

    async def close_cut_off(self, cut: CutOff) -> Done:
        """The answer broke: keep what was said, and close with a marker."""
        error = Failure(cut.error.kind, cut.error.message) if cut.error else None
        try:
            await self.store_answer()
            now = iso(self.harness.clock.now())
            marker = close_step(
                self.session.messages, new_id=self.harness.new_id, time=now, marker="interrupted"
            )
            await self.session.append(*marker)
        except SessionError as trouble:
            error = Failure("storage", str(trouble))
        return self.done("interrupted", reason=cut.reason, error=error)

    def done(self, status: DoneStatus, *, reason: str | None = None, error: Failure | None = None) -> Done:
        return self.meter.done(status, self.last_text, reason=reason, error=error)
