"""Keeps the requests of one run within the window of the model that answers: measures, decides, has it summarised.

``compaction`` decides, ``view`` is what the model sees; the session only ever grows.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import TypeVar, assert_never

from anyio.to_thread import run_sync

from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.compaction import Compact, Nothing, Past, Skip, Stop, TooSmall, decide, is_due, summary_budget
from app.engine.errors import NoRoom
from app.engine.events import Compaction, Event, Usage
from app.engine.frontier import check_frontier, frontier_of, summary_blocks
from app.engine.harness import Harness
from app.engine.messages import Message
from app.engine.metering import Meter
from app.engine.provider import ResolvedModel, ToolDefinition
from app.engine.record import take_record
from app.engine.session import Session
from app.engine.summarising import Summariser
from app.engine.tokens import Estimator
from app.engine.view import GrowingView, View, before_tail, summary_message
from app.infra.clock import iso
from app.infra.logs import note

T = TypeVar("T")

DOUBT = 1.3
"""So far off our estimate of a text may be; what exceeds the window by more than that does not fit it."""


class Compactor:
    """``seen`` is what the model is shown; ``is_due`` is asked before every call."""

    def __init__(
        self,
        agent: Agent,
        session: Session,
        harness: Harness,
        abort: Abort,
        meter: Meter,
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        """``pause`` waits so many seconds before a model is asked again."""
        self._agent = agent
        self._session = session
        self._harness = harness
        self._abort = abort
        self._summariser = Summariser(agent.auxiliary, harness, abort, meter, pause)
        self._view = GrowingView()
        self._estimator = Estimator()
        self._counted = ("", "")
        self.estimated = 0
        """Tokens of the next request, since ``is_due``."""
        self._past: list[Past] = []
        self._skipped = False

    @property
    def seen(self) -> tuple[Message, ...]:
        return self._look().messages

    def learn(self, usage: Usage, estimated: int) -> None:
        """A call whose request was ``estimated`` has been counted, perhaps by its provider."""
        if not usage.estimated and usage.outcome == "ok":
            reported = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
            self._estimator.correct(estimated, reported)
            self._harness.factors[self._counted] = self._estimator.factor

    def is_due(self, model: ResolvedModel, system: str, tools: tuple[ToolDefinition, ...]) -> bool:
        """Measure the next request: whether room is to be made for it."""
        self._know(model)
        self.estimated = self._estimator.request(system, tools, self.seen)
        return is_due(self.estimated, model.context_window, self._agent.compact_at)

    async def make_room(
        self,
        model: ResolvedModel,
        system: str,
        tools: tuple[ToolDefinition, ...],
        *,
        overflowed: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Compact the history for the request that was measured last.

        ``overflowed``: the model has refused it as too long. Raises ``NoRoom`` where no
        compaction helps, and what the summarising call failed with where only the user can settle it.
        """
        seen, window = self._look(), model.context_window
        decision = decide(
            seen.messages,
            self._estimator.sizes(seen.messages),
            window=window,
            fixed=self._estimator.fixed(system, tools),
            past=self._past,
            threshold=self._agent.compact_at,
            overflowed=overflowed,
        )
        match decision:
            case Nothing():
                pass
            case Skip() if self.estimated > window * DOUBT:
                raise NoRoom(too_long(self.estimated, window))
            case Skip():
                self._note_skip(decision)
            case Stop() | TooSmall():
                raise NoRoom(decision.sentence)
            case Compact():
                async with aclosing(self._compact(model, seen, decision)) as events:
                    async for event in events:
                        yield event
                before, self.estimated = self.estimated, self._estimator.request(system, tools, self.seen)
                self._past.append(Past(before, self.estimated))
                yield Compaction(before, self.estimated, self.seen[0].id)
            case _:
                assert_never(decision)

    def _know(self, model: ResolvedModel) -> None:
        """What this session has learnt of the model's way to count, in this run or an earlier one."""
        counted = (self._session.id, model.label)
        if counted != self._counted:
            self._counted = counted
            self._estimator.trust(self._harness.factors.get(counted))

    def _look(self) -> View:
        return self._view.of(self._session.messages)

    async def _compact(
        self, model: ResolvedModel, seen: View, decision: Compact
    ) -> AsyncGenerator[Event, None]:
        """Put a summary in the place of what stands before the cut; the session holds it afterwards."""
        budget = summary_budget(model.context_window)
        writing = self._summariser.summarise(
            model, seen.messages[: decision.cut], budget, self._estimator.factor
        )
        async with aclosing(writing) as events:
            async for event in events:
                yield event
        leave_out = {seen.messages[place].id for place in decision.resend}
        history = before_tail(self._session.messages, seen, decision.cut)
        record = await self._beside(partial(take_record, history, budget, leave_out=leave_out))
        frontier = check_frontier(self._summariser.text, record, budget) or frontier_of(record, budget)
        now = iso(self._harness.clock.now())
        blocks = summary_blocks(frontier, record, plan=self._agent.open_steps())
        await self._session.append(
            summary_message(seen, decision, blocks, id=self._harness.new_id("msg"), time=now)
        )

    async def _beside(self, work: Callable[[], T]) -> T:
        """In a thread: a million tokens are not gone through in passing."""
        async with self._abort.guard():
            return await run_sync(work, abandon_on_cancel=True)

    def _note_skip(self, skip: Skip) -> None:
        if not self._skipped:
            note("compaction_skipped", gain=skip.gain)
        self._skipped = True


def too_long(tokens: int, window: int) -> str:
    return (
        f"What is to be sent is about {tokens:,} tokens, this model holds {window:,}, and the latest message alone is"
        " most of it. Put less into one message, or into a file that can be read in parts, or choose a model with a"
        " larger window."
    )
