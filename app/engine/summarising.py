"""Has a summary written: by the model that the user chose for it, else by the one that answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from anyio.to_thread import run_sync

from app.engine.abort import Abort
from app.engine.answer import Answer
from app.engine.assembly import CallAssembler
from app.engine.calling import call_model
from app.engine.compaction import summary_budget
from app.engine.errors import ProviderError, ProviderErrorKind
from app.engine.events import Event, Retry, Usage
from app.engine.frontier import ask_for_summary
from app.engine.harness import Harness
from app.engine.messages import Message, Text
from app.engine.metering import Meter
from app.engine.provider import ModelRequest, ResolvedModel
from app.engine.retry import Patience
from app.engine.tokens import estimate_request
from app.infra.clock import iso
from app.infra.logs import note

RETRIES = 2
"""How often a summary that failed is asked for again; after that one is made without a model."""

FOR_THE_USER: frozenset[ProviderErrorKind] = frozenset(
    {"auth", "balance", "subscription", "budget", "unknown_model"}
)
"""Failures that the next call would meet too, and that only the user can settle: nothing is compacted for them."""


class Summariser:
    """``text`` is what a model wrote when it was asked last; its words are not for the chat."""

    def __init__(
        self,
        auxiliary: str | None,
        harness: Harness,
        abort: Abort,
        meter: Meter,
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        """``auxiliary`` as ``Agent`` has it; ``pause`` waits so many seconds before a model is asked again."""
        self._auxiliary = auxiliary
        self._harness = harness
        self._abort = abort
        self._meter = meter
        self._pause = pause
        self.text = ""

    async def summarise(
        self, own: ResolvedModel, messages: tuple[Message, ...], budget: int, factor: float
    ) -> AsyncGenerator[Event, None]:
        """Afterwards ``text`` is the summary, empty where no model could write one.

        ``own`` is the model that answers: it is asked where no other was chosen, or the chosen one fails.
        ``factor`` is how far our estimates were off. Raises ``ProviderError`` where only the user can settle it.
        """
        self.text = ""
        try:
            other = await self._find_auxiliary(own)
            if other is not None:
                async with aclosing(self._ask(other, messages, budget, factor, Patience(0))) as events:
                    async for event in events:
                        yield event
        except ProviderError as error:
            note("auxiliary_failed", outcome=error.kind)
        if self.text:
            return
        try:
            async with aclosing(self._ask(own, messages, budget, factor, Patience(RETRIES))) as events:
                async for event in events:
                    yield event
        except ProviderError as error:
            if error.kind in FOR_THE_USER:
                raise
            note("summary_failed", outcome=error.kind)

    async def _find_auxiliary(self, own: ResolvedModel) -> ResolvedModel | None:
        """In a thread: the key may lie in a keyring that asks its user first."""
        if self._auxiliary is None or self._auxiliary == own.label:
            return None
        async with self._abort.guard():
            return await run_sync(self._harness.models.resolve, self._auxiliary, abandon_on_cancel=True)

    async def _ask(
        self,
        model: ResolvedModel,
        messages: tuple[Message, ...],
        budget: int,
        factor: float,
        patience: Patience,
    ) -> AsyncGenerator[Event, None]:
        """Raises ``ProviderError`` where patience is at its end."""
        budget = min(budget, summary_budget(model.context_window))
        window = int(model.context_window / factor)
        write = partial(ask_for_summary, messages, budget=budget, window=window)
        async with self._abort.guard():  # in a thread: a million tokens are not gone through in passing
            system, text = await run_sync(write, abandon_on_cancel=True)
        asked = Message("user", (Text(text),), "summary", iso(self._harness.clock.now()))
        request = ModelRequest(
            model.model, system, (asked,), max_output_tokens=budget, longest_output=model.max_output
        )
        is_short = True
        while True:
            self._harness.summarising()
            answer = Answer("summary", CallAssembler(self._harness.new_id))
            call = call_model(
                model,
                request,
                answer,
                input_tokens=estimate_request(request),
                clock=self._harness.clock,
                abort=self._abort,
                meter=self._meter,
            )
            try:
                async with aclosing(call) as events:
                    async for event in events:
                        if isinstance(event, Usage):
                            yield replace(event, purpose="compaction")
            except ProviderError as error:
                wait = None if error.kind in FOR_THE_USER else patience.wait(error, self._harness.random)
                if wait is None:
                    raise
                yield Retry(self._meter.next_attempt(), round(wait * 1000), error.message)
                await self._pause(wait)
                continue
            if answer.text or answer.stop != "output_limit" or not is_short:
                self.text = answer.text
                return
            is_short = False  # it thought all its room away
            request = replace(request, max_output_tokens=model.allowed_output)
