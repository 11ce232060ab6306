"""The calls of one step: prepare, approve, execute, finish in declared order.

Adjacent read-only calls run side by side, and so do those that hand work over; every other call is a barrier. What a
tool does wrong is a result for the model, never the end of the turn.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from app.engine.abort import Abort
from app.engine.arguments import explain_problem, refuse_arguments
from app.engine.errors import Aborted
from app.engine.events import Approval, Event, LoopWarning, ToolEnd, ToolProgress, ToolStart
from app.engine.executing import Finished, Prepared, admit, crashed, execute, in_circles
from app.engine.harness import Harness
from app.engine.loop_guard import Loop, LoopGuard
from app.engine.messages import Message, ToolCall
from app.engine.pairing import Outcome, open_calls, results_in_order
from app.engine.session import Session
from app.engine.tools import MOST_TOKENS, ToolMap, ToolOutput
from app.infra.clock import iso
from app.infra.crew import Crew

Happening = Approval | ToolProgress | Finished | Exception

SIDE_BY_SIDE = 8
"""How many calls run at once."""


class StepCalls:
    """Runs the calls of one step and stores their results, batch by batch, in declared order."""

    def __init__(
        self,
        calls: Sequence[ToolCall],
        tools: ToolMap,
        session: Session,
        abort: Abort,
        harness: Harness,
        guard: LoopGuard,
        *,
        most_tokens: int = MOST_TOKENS,
        note: str | None = None,
    ) -> None:
        """Results are shown with at most ``most_tokens``; ``note`` stands below the last one."""
        self._prepared = [prepare(call, tools) for call in calls]
        self._session = session
        self._abort = abort
        self._harness = harness
        self._guard = guard
        self._most_tokens = most_tokens
        self._note = note
        self.loop: Loop | None = None
        """For which the run has to stop: the call that would go round once more, and those behind it, did not run."""
        self._running: set[str] = set()
        self._ended: list[Finished] = []
        self._notes: defaultdict[str, list[str]] = defaultdict(list)
        """What the model is told below a result, beside what the tool said."""
        self.failures: list[ToolOutput] = []
        self.ends_run = False
        """One of them handed the word to somebody else."""

    async def run(self) -> AsyncGenerator[Event, None]:
        """Yield what happens. Raises ``Aborted``; then ``close`` has to follow."""
        for batch in batches(self._prepared):
            self._abort.check()
            async with aclosing(self._run_batch([self._guarded(prepared) for prepared in batch])) as events:
                async for event in events:
                    yield event
            if batch[-1] is self._prepared[-1]:
                for warning in self._end_step(batch[-1].call):
                    yield warning
            await self._store([prepared.call for prepared in batch], sync=not batch[0].read_only)
        await self._store_images()

    async def close(self) -> None:
        """Answer whatever is still open: with its result where there is one, as interrupted or unknown otherwise."""
        await self._store(open_calls(self._session.messages))
        await self._store_images()

    async def _run_batch(self, batch: Sequence[Prepared]) -> AsyncGenerator[Event, None]:
        happenings: asyncio.Queue[Happening] = asyncio.Queue()
        happened = happenings.put_nowait
        async with Crew() as crew:
            for prepared in batch:
                yield ToolStart(prepared.call.id, prepared.call.name, prepared.call.arguments)
                crew.start(self._carry_out(prepared, happened))
            waiting = len(batch)
            while waiting:
                match await self._next(happenings):
                    case Finished(call, output) as finished:
                        waiting -= 1
                        yield self._finish(finished)
                        loop = self._guard.after(call, output.text, output.error is not None)
                        if loop is not None:
                            yield self._warned(call, loop)
                    case ToolProgress(call_id) as progress:
                        if call_id in self._running:
                            yield progress
                    case Approval() as asked:
                        yield asked
                    case Exception() as failure:
                        raise failure

    async def _carry_out(self, prepared: Prepared, happened: Callable[[Happening], None]) -> None:
        """The task of one call. What fails before the tool has it is told too: it ends the run."""
        try:
            prepared = await admit(prepared, self._harness.gate, happened)
            await self._begin(prepared)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the run ends with it
            happened(failure)
        else:
            await execute(prepared, happened, self._harness, self._most_tokens)

    async def _begin(self, prepared: Prepared) -> None:
        """From here on the call may have done something; a call that is refused does nothing."""
        self._abort.check()
        if prepared.refusal is None:
            if not prepared.read_only:
                await self._session.mark_started(prepared.call.id)
            self._running.add(prepared.call.id)

    def _guarded(self, prepared: Prepared) -> Prepared:
        """The call itself, or its refusal once the run goes in circles."""
        self.loop = self.loop or self._guard.before(prepared.call)
        return replace(prepared, refusal=in_circles(self.loop)) if self.loop else prepared

    def _warned(self, call: ToolCall, loop: Loop) -> LoopWarning:
        self._notes[call.id].append(loop.warning)
        return LoopWarning(loop.name, loop.count)

    def _end_step(self, last: ToolCall) -> Iterator[LoopWarning]:
        loop = self._guard.end_step()
        if loop is not None:
            yield self._warned(last, loop)
        if self._note is not None:
            self._notes[last.id].append(self._note)

    async def _next(self, happenings: asyncio.Queue[Happening]) -> Happening:
        """What has happened is told before a stop is obeyed: a result that is there is never lost."""
        try:
            async with self._abort.guard():
                return await happenings.get()
        except Aborted:
            if happenings.empty():
                raise
            return happenings.get_nowait()

    def _finish(self, done: Finished) -> ToolEnd:
        output = done.output
        self._running.discard(done.call.id)
        self._ended.append(done)
        if output.error is not None:
            self.failures.append(output)
        self.ends_run |= output.ends_run
        return ToolEnd(
            done.call.id,
            done.call.name,
            output.text,
            output.error is not None,
            output.error,
            done.duration_ms,
            output.images,
        )

    async def _store(self, calls: Sequence[ToolCall], *, sync: bool = True) -> None:
        outcomes = [
            Outcome(
                done.call.id,
                "\n\n".join((done.output.text, *self._notes[done.call.id])),
                done.output.error,
            )
            for done in self._ended
        ]
        results = results_in_order(
            calls,
            outcomes,
            new_id=self._harness.new_id,
            time=iso(self._harness.clock.now()),
            running=self._running,
            mutating=self._is_mutating,
        )
        if results:
            await self._session.append(*results, sync=sync)

    async def _store_images(self) -> None:
        """Pictures follow the last result of the step, in one message of the user."""
        by_call = {done.call.id: done.output.images for done in self._ended}
        images = [image for prepared in self._prepared for image in by_call.get(prepared.call.id, ())]
        if images:
            now = iso(self._harness.clock.now())
            await self._session.append(Message("user", tuple(images), self._harness.new_id("msg"), now))

    def _is_mutating(self, name: str) -> bool:
        return any(not prepared.read_only for prepared in self._prepared if prepared.call.name == name)


def prepare(call: ToolCall, tools: ToolMap) -> Prepared:
    """Find the tool and check the arguments; a call that cannot run is answered with the next valid step."""
    if call.problem is not None:
        return Prepared(call, None, explain_problem(call))
    tool = tools.get(call.name)
    if tool is None:
        names = ", ".join(tools) or "none"
        return Prepared(
            call,
            None,
            ToolOutput.failed("E_UNKNOWN_TOOL", f"There is no tool {call.name!r}. Available: {names}."),
        )
    try:
        return Prepared(call, tool, refuse_arguments(tool, call.arguments))
    except Exception as defect:  # noqa: BLE001 - a schema that cannot be used must not end the turn
        return Prepared(call, tool, crashed(call, defect))


def batches(prepared: Sequence[Prepared]) -> Iterator[list[Prepared]]:
    """Runs of adjacent calls of one lane, at most ``SIDE_BY_SIDE`` long; every call without a lane alone."""
    batch: list[Prepared] = []
    for item in prepared:
        is_apart = bool(batch) and (item.lane is None or item.lane != batch[0].lane)
        if is_apart or len(batch) == SIDE_BY_SIDE:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch
