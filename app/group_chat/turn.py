"""One turn: one member, one run, its events drawn into the chat as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

import anyio
from anyio.to_thread import run_sync

from app.engine import events as engine
from app.engine.abort import Abort
from app.engine.agent import Agent
from app.engine.errors import EngineError, SessionError
from app.engine.hurry import Hurry
from app.engine.messages import Message
from app.engine.runner import run
from app.engine.session import Session
from app.engine.steering import Steering, UserInput
from app.engine.tools import ToolMap
from app.group_chat.approvals import TOO_LATE, Approvals, Waiting
from app.group_chat.errands import Errand, Part
from app.group_chat.errors import NothingToDecide, RoomError
from app.group_chat.events import FORM, Floor, FloorChanged, FloorState
from app.group_chat.hearing import quoted, unheard
from app.group_chat.keeping import KeepingBoard
from app.group_chat.members import Members, Prepared
from app.group_chat.recovery import catch_up, remember
from app.group_chat.roles import COMMANDER, WORKER
from app.group_chat.segments import SAVE_EVERY, Segments
from app.group_chat.step_log import StepLog
from app.group_chat.undoing import Undoing
from app.group_chat.veil import Veil
from app.hands.undo.keeping import undoable
from app.hands.undo.values import Origin
from app.infra.crew import Crew
from app.infra.errors import InfraError
from app.infra.logs import failure
from app.models.errors import StorageError
from app.prompts.rendering import compose
from app.providers.resting import Resting
from app.workspace import conversations, messages, turns
from app.workspace.errors import WorkspaceError
from app.workspace.rows import SessionRow, TurnRow

_IN_WORDS = (EngineError, RoomError, WorkspaceError, StorageError, InfraError)


class Company(Protocol):
    """The others of a room, as the member of one turn has them."""

    def tools_of(self, asker: LiveTurn) -> ToolMap: ...

    async def take_up(self, asker: LiveTurn, history: Sequence[Message]) -> list[str]:
        """See ``Dispatching``."""
        ...


class Asking(Protocol):
    """The forms of a room, see ``OpenForms``."""

    def tools_of(self, asker: LiveTurn) -> ToolMap: ...

    async def hear(
        self, live: LiveTurn, before: TurnRow | None, history: Sequence[Message]
    ) -> list[UserInput]: ...


class LiveTurn:
    """A turn while it runs: what its member is doing, what it has written, and the way to stop it."""

    def __init__(
        self,
        board: KeepingBoard,
        turn: TurnRow,
        session: SessionRow,
        before: TurnRow | None,
        chosen: str | None = None,
        resting: Callable[[], Iterable[Resting]] = tuple,
        waits: Callable[[LiveTurn], object] = lambda _: None,
        *,
        part: Part = "addressed",
        errand: Errand | None = None,
    ) -> None:
        """``before`` is the turn that ended last on this session, ``chosen`` the model picked for the conversation.

        ``resting`` as in ``Members``. ``waits`` is called when it begins to wait for the user, and when it goes on.
        ``errand``: the task it is taken for, where it does not answer the user.
        """
        self.id = turn.id
        self.board = board
        self.abort = Abort()
        self.hurry = Hurry()
        self.ended = anyio.Event()
        self.segments = Segments(board, turn.id, turn.member, resting, task=turn.task)
        self.floor = Floor("thinking", turn.member, turn.id, board.store.now())
        self.model: str | None = None
        """``provider/model`` of the last call."""
        self.chosen = chosen
        self.row = turn
        """As it is stored, or will be: ``end`` closes it."""
        self.part = part
        self.errand = errand
        self.is_left = False
        """The process ends: it is not stopped but cut off, and what it waits for stays."""
        self._open_forms = 0
        self.handed_back = False
        """Its last words gave the floor back, with the marker."""
        self._veil = Veil() if part == "floor" else None
        self._waits = waits
        self._session = session
        self._before = before
        self._approvals: Approvals | None = None
        self._scope = anyio.CancelScope()
        self._done: engine.Done | None = None

    async def run(
        self, members: Members, steering: Steering, undoing: Undoing, company: Company, forms: Asking
    ) -> None:
        """From the first word to the last. Whatever breaks, the turn ends in words, with the chat intact."""
        try:
            with self._scope:
                await self._run(members, steering, undoing, company, forms)
        except _IN_WORDS as error:
            failure("turn_failed", error, turn=self.id)
            self._fail("storage" if isinstance(error, StorageError | SessionError) else "local", str(error))
        except Exception as defect:  # noqa: BLE001 - a turn that breaks takes nobody with it
            failure("turn_broke", defect, turn=self.id)
            self._fail(
                "defect", "Something went wrong inside Plancia. What was written so far is kept; press Retry."
            )

    @property
    def answers_user(self) -> bool:
        """It is not a part of another turn."""
        return self.errand is None or self.errand.is_alone

    def stop(self) -> None:
        """Ask the run to end; it answers with its ``Done``."""
        self._set_floor("stopping")
        self.abort.set()

    def leave(self) -> None:
        """As ``stop``, but the process ends, and the user may go on later."""
        self.is_left = True
        self.stop()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A block in which it waits for the answers to a form, whatever else it does meanwhile."""
        self._open_forms += 1
        self._set_floor("asking", FORM)
        try:
            yield
        finally:
            self._open_forms -= 1
            self._set_floor("thinking")

    def asks(self, approval_id: str) -> bool:
        """Whether a call of it waits for this answer."""
        return self._approvals is not None and self._approvals.has(approval_id)

    async def decide(self, approval_id: str, decision: str, reason: str, rule: int, *, network: bool) -> None:
        """See ``Approvals.decide``."""
        if self._approvals is None:
            raise NothingToDecide(TOO_LATE)
        await self._approvals.decide(approval_id, decision, reason, rule, network=network)

    async def settle(self) -> None:
        """The user has made a rule elsewhere: what it covers here need not wait any more."""
        if self._approvals is not None:
            await self._approvals.settle("allow_always")

    def cancel(self) -> None:
        """End a run that does not answer."""
        self._scope.cancel()

    def end(self) -> engine.Done:
        """How it ended; it was cut off where it could not say so itself."""
        cut_off = engine.Done("aborted" if self.abort.is_set else "interrupted", reason="cancelled")
        done = self._done or self._close(cut_off)
        error = {"kind": done.error.kind, "message": done.error.message} if done.error else None
        self.row = replace(
            self.row,
            state=done.status,
            reason=done.reason,
            error=error,
            model=self.model,
            ended=self.row.ended or self.board.store.now(),
        )
        return done

    async def _run(
        self, members: Members, steering: Steering, undoing: Undoing, company: Company, forms: Asking
    ) -> None:
        store = self.board.store
        conversation = replace(
            conversations.load_conversation(store, self.row.conversation), model=self.chosen
        )
        session = await members.open_session(self._session)
        if self._before is not None and self.row.member != WORKER:
            for row, change in catch_up(store, session, self._before):
                self.board.announce(row, change)
            await remember(store, session, self._before)
        inputs = await self._inputs(session, members, company, forms)
        with_others = {**company.tools_of(self), **forms.tools_of(self)}
        prepared = await members.prepare(self.row.member, conversation, self._count, self.part, with_others)
        if self.errand is not None and self.errand.model:
            prepared = replace(prepared, agent=replace(prepared.agent, model=self.errand.model))
        self._approvals = gate = Approvals(
            prepared.equipment.judge,
            prepared.permissions,
            prepared.equipment.permits,
            store.new_id,
            self._decided,
        )
        organising = partial(self._set_floor, "organising")
        harness = replace(prepared.harness, summarising=organising, gate=gate)
        events = run(
            await self._with_undo(prepared, members, undoing),
            session,
            inputs,
            harness,
            abort=self.abort,
            steering=steering,
            hurry=self.hurry,
        )
        await self._follow_all(events)
        members.note(self._session, self.end(), self.model)

    async def _with_undo(self, prepared: Prepared, members: Members, undoing: Undoing) -> Agent:
        """Its agent, with tools whose calls can be undone."""
        history = await run_sync(partial(members.history, self.row.conversation), abandon_on_cancel=True)
        log = StepLog(self.row, undoing)
        origin = Origin(self.row.conversation, self.id)
        tools = undoable(prepared.equipment.tools, history, origin, log)
        kept = {name: tool for name, tool in tools.items() if name in prepared.agent.tools}
        return replace(prepared.agent, tools={**prepared.agent.tools, **kept})

    async def _follow_all(self, events: AsyncGenerator[engine.Event, None]) -> None:
        """Draw what happens. Where that cannot be stored, the run is stopped, so that its session keeps the words."""
        async with aclosing(events), Crew() as crew:
            crew.start(self._save_by_time())
            async for event in events:
                self._follow(event)
                if self.board.trouble is not None:
                    self.abort.set()

    async def _save_by_time(self) -> None:
        """What a model wrote before it fell silent is not lost with the process."""
        while True:
            await anyio.sleep(SAVE_EVERY)
            self.segments.save_growing()

    async def _inputs(
        self, session: Session, members: Members, company: Company, forms: Asking
    ) -> list[UserInput]:
        """What its member hears first: answers that came late, what became of its jobs, what was said."""
        answers: list[UserInput] = []
        outcomes: list[str] = []

        async def hear() -> None:
            answers.extend(await forms.hear(self, self._before, session.messages))

        async def take_up() -> None:
            if self.errand is None and self._before is not None and self._before.state != "completed":
                outcomes.extend(await company.take_up(self, session.messages))

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(hear)
                group.start_soon(take_up)
        except ExceptionGroup as several:
            raise several.exceptions[0] from None
        return [*answers, *self._said(session, members, outcomes)]

    def _said(self, session: Session, members: Members, outcomes: Sequence[str]) -> list[UserInput]:
        """Its job, or what was said in the chat and is for it."""
        store, conversation = self.board.store, self.row.conversation
        job = self.errand.first_words(self.id, session.messages, members.root) if self.errand else None
        if job is not None and self.row.member != COMMANDER:
            return [job]
        jobs = turns.list_jobs(store, conversation)
        said = messages.list_said(store, conversation, to=self.row.member)
        inputs = unheard(self.row.member, said, jobs, session.messages, members.name_of, members.root)
        if job is not None:
            return [*inputs, job]
        goes_on = self.row.trigger == "continue"
        if outcomes or (goes_on and not inputs):
            first = compose(
                "go_on" if goes_on else "late_results",
                outcomes=[quoted("who did it", members.name_of(self.row.member), told) for told in outcomes],
            ).strip()
            return [UserInput(first, store.new_id("msg")), *inputs]
        return inputs

    def _fail(self, kind: str, sentence: str) -> None:
        """End a turn whose run could not begin, or broke; one that has ended stays as it ended."""
        if self._done is None:
            self._close(engine.Done("failed", error=engine.Failure(kind, sentence)))

    def _close(self, done: engine.Done) -> engine.Done:
        """Draw the end. Where that cannot be, whoever follows the room is told all the same."""
        self._done = done
        try:
            self._follow(done)
        except Exception as error:  # noqa: BLE001 - whoever follows the room is told all the same
            failure("end_not_drawn", error, turn=self.id)
            self.board.publish(done, member=self.floor.member, turn=self.id)
        return self._done

    def _follow(self, event: engine.Event) -> None:
        if self.is_left and isinstance(event, engine.Done) and event.status == "aborted":
            event = replace(event, status="interrupted", reason="closed")
        for seen in self._veil.lift(event) if self._veil else (event,):
            self._draw(seen)

    def _draw(self, event: engine.Event) -> None:
        match self.segments.take(event):
            case engine.TextDelta():
                self._set_floor("writing")
            case engine.ToolDelta(name=name) | engine.ToolStart(name=name):
                self._set_floor("tool", name)
            case engine.ReasoningDelta() | engine.ToolEnd() | engine.Compaction():
                self._set_floor("thinking")
            case engine.Retry():
                self._set_floor("waiting")
            case engine.Approval():
                self._set_floor("asking")
            case engine.Usage(provider=provider, model=model, purpose="turn"):
                self.model = f"{provider}/{model}"
            case engine.Done() as done:
                self._done = done
                self.handed_back = self._veil is not None and self._veil.is_handback
            case _:
                pass

    def _count(self, call: engine.Usage) -> None:
        """A call that the run made by itself, such as for a picture: it is counted and told like one of its own."""
        self.board.count(call, member=self.row.member, turn=self.id)
        self.board.publish(call, member=self.row.member, turn=self.id)

    def _decided(self, waiting: Waiting, decision: str, reason: str) -> None:
        self.segments.decided(waiting.id, decision, reason)
        if self._approvals and not self._approvals.waiting:
            self._set_floor("tool", waiting.call.name)

    def _set_floor(self, state: FloorState, detail: str | None = None) -> None:
        if state != "stopping" and (self._open_forms or (self._approvals and self._approvals.waiting)):
            state, detail = "asking", FORM if self._open_forms else None
        if self.floor.state == "stopping" or (self.floor.state, self.floor.detail) == (state, detail):
            return
        before, self.floor = self.floor, replace(self.floor, state=state, detail=detail)
        self.board.publish(FloorChanged(), member=self.floor.member, turn=self.id)
        if "asking" in (before.state, state):
            self._waits(self)
