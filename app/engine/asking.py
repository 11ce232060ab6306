"""One whole answer out of a model: found, asked, asked again while nothing was shown, and written on at its limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from anyio.to_thread import run_sync

from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.answer import Answer
from app.engine.assembly import CallAssembler
from app.engine.calling import call_model
from app.engine.compacting import DOUBT, Compactor
from app.engine.errors import ACCOUNT, RETRYABLE, NoRoom, ProviderError, ProviderErrorKind
from app.engine.events import Event, Fallback, Omission, Retry, Usage
from app.engine.harness import Harness
from app.engine.hurry import Hurry
from app.engine.messages import Message, Origin, ToolCall
from app.engine.metering import Meter
from app.engine.provider import ModelRequest, ResolvedModel, StopReason
from app.engine.retry import Patience, come_back
from app.engine.session import Session
from app.engine.tokens import estimate_message
from app.engine.tools import define
from app.infra.clock import iso

RETRIES = 5
"""How often a call that failed before any content is sent again."""

PASSING: frozenset[ProviderErrorKind] = frozenset({*RETRYABLE, "unreachable"})
"""It may pass: the next group answers once our own patience is at its end."""


class CutOff(Exception):
    """The answer stopped in the middle; what there is of it is to be kept."""

    def __init__(self, reason: str, error: ProviderError | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


class Asking:
    """Asks for the answers of one run, one after the other. ``answer`` is the one that is not stored yet."""

    def __init__(
        self,
        agent: Agent,
        session: Session,
        harness: Harness,
        abort: Abort,
        hurry: Hurry,
        meter: Meter,
    ) -> None:
        self.answer: Answer | None = None
        self.model: ResolvedModel | None = None
        """The one that was asked last; looked for anew after a failure."""
        self._failed = self._moved_on = False
        self._used: set[str] = set()
        self._looked_at = 0
        self._agent = agent
        self._session = session
        self._harness = harness
        self._abort = abort
        self._hurry = hurry
        self._meter = meter
        self._compactor = Compactor(agent, session, harness, abort, meter, self._pause)

    async def ask(self, *, closing: bool = False) -> AsyncGenerator[Event, None]:
        """Afterwards ``answer`` is whole. A ``closing`` one may call no tool.

        Raises ``CutOff`` where it broke in the middle, ``ProviderError`` where there is none.
        """
        async with aclosing(self._ask(None, closing)) as events:
            async for event in events:
                yield event
        cut = self.answer
        if cut is not None and cut.met_its_limit:
            async with aclosing(self._ask(cut, closing)) as events:
                async for event in events:
                    yield event

    def take(self, calls: tuple[ToolCall, ...]) -> tuple[Answer | None, Message | None]:
        """The answer and the message it is stored as, None where nothing was said. It is not asked for again."""
        answer, self.answer = self.answer, None
        if answer is None:
            return None, None
        now = iso(self._harness.clock.now())
        return answer, answer.message(time=now, origin=self.origin, calls=calls)

    @property
    def window(self) -> int:
        """Tokens that the model which was asked last can hold."""
        assert self.model is not None
        return self.model.context_window

    @property
    def origin(self) -> Origin:
        model = self.model
        return Origin(model.provider.id, model.model, model.endpoint) if model else Origin("", "")

    @property
    def label(self) -> str:
        """``provider/model`` of the last call, for sentences."""
        return self.model.label if self.model else ""

    async def _ask(self, cut: Answer | None, closing: bool) -> AsyncGenerator[Event, None]:
        """One stream that brought something, after as many attempts as that takes. ``cut`` is written on."""
        patience = Patience(RETRIES)
        overflowed = shorten = False
        while True:
            answer = self._begin(cut)
            failure: ProviderError | None = None
            try:
                async with aclosing(self._attempt(answer, cut, closing, shorten)) as events:
                    async for event in events:
                        yield event
            except ProviderError as error:
                failure, self._failed = error, True
            if answer.has_content:
                if failure is not None:
                    raise CutOff("dropped", failure) from failure
                return
            if failure is None:
                if cut is not None or answer.stop in ("filtered", "refused"):
                    return  # there was nothing more to say, or it was not to be said
                failure = nothing_said(self.label, answer.stop)
            shorten = failure.kind == "overflow" and not overflowed and not isinstance(failure, NoRoom)
            if shorten:
                overflowed = True
                continue
            wait = patience.wait(failure, self._harness.random)
            if cut is None and (wait is None or failure.kind in ACCOUNT):
                moved = await self._move_on(failure)
                if moved is not None:
                    yield moved
                    patience, overflowed = Patience(RETRIES), False
                    continue
            if wait is None or answer.stop == "output_limit":
                raise (CutOff("output_limit", failure) if cut is not None else final(failure))
            yield Retry(self._meter.next_attempt(), round(wait * 1000), failure.message)
            await self._pause(wait)

    async def _pause(self, seconds: float) -> None:
        """A wait for a model, which a stop and the user's impatience end."""
        async with self._abort.guard(), self._hurry.wait():
            await self._harness.clock.sleep(seconds)

    def _begin(self, cut: Answer | None) -> Answer:
        calls = CallAssembler(self._harness.new_id, self._used_ids())
        self.answer = cut.written_on(calls) if cut else Answer(self._harness.new_id("msg"), calls)
        return self.answer

    async def _attempt(
        self, answer: Answer, cut: Answer | None, closing: bool, shorten: bool
    ) -> AsyncGenerator[Event, None]:
        """Room is made where it is needed, then one request is sent and its answer collected.

        ``shorten``: the one before was refused as too long.
        """
        model = await self._find_model()
        system = self._agent.system_prompt()
        tools = define(self._agent.tools) if model.takes_tools else ()
        if self._compactor.is_due(model, system, tools) or shorten:
            room = self._compactor.make_room(model, system, tools, overflowed=shorten)
            async with aclosing(room) as events:
                async for event in events:
                    yield event
        begun = cut.message(time="", origin=self.origin) if cut else None
        seen = self._compactor.seen
        estimated = self._compactor.estimated + (estimate_message(begun) if begun else 0)
        request = ModelRequest(
            model=model.model,
            system=system,
            messages=(*seen, begun) if begun else seen,
            tools=tools,
            tool_choice="none" if closing else "auto",
            session_id=self._session.id,
            max_output_tokens=room_beside(estimated, model),
            longest_output=model.max_output,
            sees_pictures=model.sees_pictures,
            reasoning=model.reasoning,
        )
        call = call_model(
            model,
            request,
            answer,
            input_tokens=estimated,
            clock=self._harness.clock,
            abort=self._abort,
            meter=self._meter,
        )
        counted = True
        async with aclosing(call) as events:
            async for event in events:
                if isinstance(event, Omission) and "beginning" in event.parts:
                    counted = False  # only what the server kept of it
                if isinstance(event, Usage) and counted:
                    self._compactor.learn(event, estimated)
                yield event

    async def _find_model(self) -> ResolvedModel:
        """In a thread: the key may lie in a keyring that asks its user first, and the wire may still be unloaded."""
        if self.model is None or (self._failed and not self._moved_on):
            async with self._abort.guard():
                self.model = await run_sync(
                    self._harness.models.resolve, self._agent.model, abandon_on_cancel=True
                )
            self._failed = False
        return self.model

    async def _move_on(self, failure: ProviderError) -> Fallback | None:
        """The next group of the user's order takes over for the rest of the run; None where there is none."""
        model = self.model
        if model is None or failure.kind not in ACCOUNT | PASSING:
            return None
        async with self._abort.guard():
            following = await run_sync(model.fallback, abandon_on_cancel=True)
        if following is None:
            return None
        self.model, self._moved_on = following, True
        return Fallback(model.label, following.label, failure.message)

    def _used_ids(self) -> set[str]:
        """The ids of all calls so far; a server may count its own anew in every answer."""
        messages = self._session.messages
        for place in range(self._looked_at, len(messages)):
            self._used.update(call.id for call in messages[place].calls)
        self._looked_at = len(messages)
        return self._used


def room_beside(tokens: int, model: ResolvedModel) -> int | None:
    """What the user allows an answer, as far as the window holds it beside so many tokens; a tenth of it at least."""
    if model.allowed_output is None:
        return None
    window = model.context_window
    return min(model.allowed_output, max(window - round(tokens * DOUBT), window // 10))


def final(error: ProviderError) -> ProviderError:
    """The error that ends the run, with the time to come back where the server named one."""
    later = come_back(error)
    return ProviderError(error.kind, f"{error.message} {later}", status=error.status) if later else error


def nothing_said(label: str, stop: StopReason | None) -> ProviderError:
    """For an answer without a word and without a call."""
    if stop == "output_limit":
        sentence = (
            f"{label} used all the room of its answer for thinking and did not come to an answer. Ask for less at"
            " once, or choose a model with a larger output limit."
        )
    else:
        sentence = (
            f"{label} answered without any text. The server may not be a model server, or the model cannot do"
            " this: check the address in Settings, or choose another model."
        )
    return ProviderError("empty", sentence)
