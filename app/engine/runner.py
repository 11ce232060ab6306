"""run(): the loop. One async generator; everything else in the engine serves it.

store the input → ask the model → run its calls → ask again, while there are calls
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import count
from typing import assert_never

from anyio.to_thread import run_sync

from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.answer import Answer
from app.engine.assembly import CallAssembler
from app.engine.errors import Aborted, ProviderError, SessionError
from app.engine.events import Done, Event, Failure, Retry, Steer
from app.engine.harness import Harness
from app.engine.messages import Message, Origin, Text, ToolCall
from app.engine.metering import CallMeter, Meter
from app.engine.pairing import close_step
from app.engine.provider import ModelRequest, ResolvedModel
from app.engine.retry import come_back, wait_seconds
from app.engine.session import Session
from app.engine.steering import NoSteering, Steering, UserInput
from app.engine.tool_calls import StepCalls
from app.engine.tools import define
from app.infra.clock import iso

RETRIES = 5
"""How often a call that failed before any content is sent again."""

EMPTY_RETRIES = 2
"""How often an answer without any content is asked for again."""


async def run(
    agent: Agent,
    session: Session,
    inputs: Sequence[UserInput],
    harness: Harness,
    *,
    abort: Abort | None = None,
    steering: Steering | None = None,
) -> AsyncGenerator[Event, None]:
    """Run one agent from its inputs to exactly one ``Done``, yielding all that happens on the way.

    Without inputs the run goes on from where the history stands. Errors of models, tools and the session
    become the ``Done``; only cancellation from outside and defects of the engine leave as exceptions.
    """
    this = _Run(agent, session, harness, abort or Abort(), steering or NoSteering())
    try:
        await this.listen(inputs)
        async with aclosing(this.loop()) as events:
            async for event in events:
                yield event
        done = this.meter.done("completed", text=this.last_text)
    except Aborted:
        done = await this.close_aborted()
    except CutOff as cut:
        done = this.meter.done("interrupted", text=this.last_text, reason=cut.reason, error=cut.error)
    except StepLimit:
        done = this.meter.done("limit", text=this.last_text, reason="steps")
    except ProviderError as error:
        reason = "budget" if error.kind == "budget" else None
        failed = Failure(error.kind, error.message)
        done = this.meter.done("failed", text=this.last_text, reason=reason, error=failed)
    except SessionError as error:
        done = this.meter.done("failed", text=this.last_text, error=Failure("storage", str(error)))
    yield done


async def collect(events: AsyncGenerator[Event, None]) -> Done:
    """Drain a run and return its ``Done``, for callers who want only the result."""
    async for event in events:
        if isinstance(event, Done):
            return event
    raise AssertionError("a run ends with a Done")


class CutOff(Exception):
    """The answer stopped in the middle; what there is of it has been kept."""

    def __init__(self, reason: str, error: Failure | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


class StepLimit(Exception):
    """The run took as many steps as its agent may."""


class _Run:
    """The state of one run, and its steps in the order in which the loop takes them."""

    def __init__(
        self, agent: Agent, session: Session, harness: Harness, abort: Abort, steering: Steering
    ) -> None:
        self.agent = agent
        self.session = session
        self.harness = harness
        self.abort = abort
        self.steering = steering
        self.meter = Meter()
        self.last_text = ""
        self.answer: Answer | None = None
        self.calls: StepCalls | None = None
        self.origin = Origin("", "")

    @property
    def label(self) -> str:
        """``provider/model`` of the last call, for sentences."""
        return f"{self.origin.provider}/{self.origin.model}"

    async def loop(self) -> AsyncGenerator[Event, None]:
        for step in count(1):
            if step > self.agent.step_limit:
                raise StepLimit
            self.meter.steps = step
            async with aclosing(self.ask()) as events:
                async for event in events:
                    yield event
            calls = await self.keep_answer()
            if calls:
                async with aclosing(self.run_calls(calls)) as events:
                    async for event in events:
                        yield event
            steered = await self.steering.fold_in(self.heed)
            for said in steered:
                yield Steer(said.text, said.id)
            if not calls and not steered:
                return

    async def listen(self, inputs: Sequence[UserInput]) -> None:
        """Store what the user said, as it was said."""
        now = iso(self.harness.clock.now())
        messages = [Message("user", (Text(said.text), *said.images), said.id, now) for said in inputs]
        if messages:
            await self.session.append(*messages)

    async def heed(self, inputs: Sequence[UserInput]) -> None:
        """``listen`` to what was said meanwhile; after a stop it stays where it waits."""
        self.abort.check()
        await self.listen(inputs)

    async def ask(self) -> AsyncGenerator[Event, None]:
        """One model call, sent again as long as it fails before anything was shown."""
        failures = empties = 0
        while True:
            answer = self.answer = self.new_answer()
            failure: ProviderError | None = None
            try:
                async with aclosing(self.stream(answer)) as events:
                    async for event in events:
                        yield event
            except ProviderError as error:
                failure = error
            if answer.has_content and failure is None:
                return
            if answer.has_content:
                assert failure is not None
                await self.keep_text()
                raise CutOff("dropped", Failure(failure.kind, failure.message)) from failure
            if failure is None:
                empties += 1
                failure = empty_answer(self.label)
                wait = 0.0 if empties <= EMPTY_RETRIES else None
            else:
                wait = wait_seconds(failure, failures, self.harness.random) if failures < RETRIES else None
                failures += 1
            if wait is None:
                raise final(failure)
            yield Retry(self.meter.next_attempt(), round(wait * 1000), failure.message)
            async with self.abort.guard():
                await self.harness.clock.sleep(wait)

    def new_answer(self) -> Answer:
        used = {call.id for message in self.session.messages for call in message.calls}
        return Answer(self.harness.new_id("msg"), CallAssembler(self.harness.new_id, used))

    async def stream(self, answer: Answer) -> AsyncGenerator[Event, None]:
        """One request and the events of its answer as they arrive, closed by its ``Usage`` on every way out."""
        model = await self.find_model()
        self.origin = Origin(model.provider.id, model.model, model.endpoint)
        request = self.request(model)
        call = CallMeter(model, request, self.harness.clock)
        outcome = "ok"
        try:
            async with aclosing(model.provider.stream(request)) as batches:
                while True:
                    async with self.abort.guard():
                        batch = await anext(batches, None)
                    if batch is None:
                        break
                    call.first_token()
                    for event in answer.take(batch):
                        yield event
        except (ProviderError, Aborted) as error:
            outcome = error.kind if isinstance(error, ProviderError) else "aborted"
            yield self.meter.counted(call.usage(answer, outcome))
            raise
        yield self.meter.counted(call.usage(answer, outcome))

    async def find_model(self) -> ResolvedModel:
        """In a thread: the key may lie in a keyring that asks its user first, and the wire may still be unloaded."""
        async with self.abort.guard():
            return await run_sync(self.harness.models.resolve, self.agent.model, abandon_on_cancel=True)

    def request(self, model: ResolvedModel) -> ModelRequest:
        return ModelRequest(
            model=model.model,
            system=self.agent.system_prompt(),
            messages=tuple(self.session.messages),
            tools=define(self.agent.tools),
            session_id=self.session.id,
        )

    async def keep_answer(self) -> tuple[ToolCall, ...]:
        """Store the answer, whole; its calls are what the loop goes on with.

        Raises ``CutOff`` where the text ends before its end, ``ProviderError`` where the model refused.
        """
        answer = self.answer
        assert answer is not None
        calls = answer.calls()
        await self.store_answer(calls)
        if not calls:
            match answer.stop:
                case None:
                    raise CutOff(
                        "dropped", Failure("dropped", f"{self.label} stopped in the middle of its answer.")
                    )
                case "output_limit":
                    raise CutOff("output_limit")
                case "filtered" | "refused":
                    raise ProviderError(
                        "policy", f"{self.label} declined to answer this. Rephrase the request."
                    )
                case "end" | "tool_calls" | "pause":
                    pass
                case _:
                    assert_never(answer.stop)
        return calls

    async def keep_text(self) -> None:
        """Store what was said before the answer broke; calls that were still arriving are not part of it."""
        await self.store_answer(())

    async def store_answer(self, calls: tuple[ToolCall, ...]) -> None:
        answer, self.answer = self.answer, None
        if answer is None:
            return
        self.last_text = answer.text
        message = answer.message(time=iso(self.harness.clock.now()), origin=self.origin, calls=calls)
        if message is not None:
            await self.session.append(message)

    async def run_calls(self, calls: tuple[ToolCall, ...]) -> AsyncGenerator[Event, None]:
        """Run the calls of one step; their results are stored in declared order."""
        self.calls = StepCalls(calls, self.agent.tools, self.session, self.abort, self.harness)
        async with aclosing(self.calls.run()) as events:
            async for event in events:
                yield event
        self.end_calls()

    def end_calls(self) -> None:
        calls, self.calls = self.calls, None
        for failure in calls.failures if calls else ():
            self.meter.count_failure(failure)

    async def close_aborted(self) -> Done:
        """The user stopped: keep what was said and done, answer every open call, close with a marker."""
        try:
            await self.keep_text()
            if self.calls is not None:
                await self.calls.close()
                self.end_calls()
            now = iso(self.harness.clock.now())
            await self.session.append(
                *close_step(self.session.messages, new_id=self.harness.new_id, time=now)
            )
        except SessionError as error:
            return self.meter.done("aborted", self.last_text, error=Failure("storage", str(error)))
        return self.meter.done("aborted", self.last_text)


def final(error: ProviderError) -> ProviderError:
    """The error that ends the run, with the time to come back where the server named one."""
    later = come_back(error)
    return ProviderError(error.kind, f"{error.message} {later}", status=error.status) if later else error


def empty_answer(label: str) -> ProviderError:
    return ProviderError(
        "empty",
        f"{label} answered without any text. The server may not be a model server, or the model cannot do this:"
        " check the address in Settings, or choose another model.",
    )
