"""Work that members give each other: one path, whoever asks, from the call that asks to the result that answers it.

A member that is sent takes the very turn that a message of the user would start; only what it is told differs, and
where its last words go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import anyio

from app.engine.errors import Aborted
from app.engine.events import Done
from app.engine.messages import Message
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolMap, ToolOutput
from app.group_chat.board import Board
from app.group_chat.bounds import MOST_PARALLEL, refuse_task, refuse_turn
from app.group_chat.company_tools import commander_tools, guest_tools
from app.group_chat.errands import Errand
from app.group_chat.events import FORM, TaskChanged
from app.group_chat.floor import Dispatched, HandedBack, HandedOff
from app.group_chat.floor_keeping import FloorKeeper
from app.group_chat.hearing import quoted
from app.group_chat.leading import count_turns, given_before, is_heard, led_to, stretch
from app.group_chat.live_turns import QUIET_WITHIN, LiveTurns
from app.group_chat.outcomes import outcome
from app.group_chat.roles import COMMANDER, USER, WORKER
from app.group_chat.turn import LiveTurn
from app.group_chat.visibility import Request, carry
from app.models.errors import StorageError
from app.prompts.rendering import compose
from app.workspace import tasks, turns
from app.workspace.attached import with_attachments
from app.workspace.errors import WorkspaceError
from app.workspace.rows import MessageRow, TaskKind, TaskRow, TaskState

_ENDED: Mapping[str, TaskState] = {
    "completed": "done",
    "failed": "failed",
    "limit": "failed",
    "aborted": "cancelled",
    "interrupted": "interrupted",
}


class Dispatching:
    """The tasks of one room."""

    def __init__(
        self,
        board: Board,
        turns: LiveTurns,
        floor: FloorKeeper,
        lock: anyio.Lock,
        plan_tools_of: Callable[[LiveTurn], ToolMap] = lambda _: {},
    ) -> None:
        """``plan_tools_of`` are what Commander has to set plans."""
        self._board = board
        self._store = board.store
        self._conversation = board.conversation
        self._turns = turns
        self._floor = floor
        self._lock = lock
        self._plan_tools_of = plan_tools_of
        self._places = anyio.Semaphore(MOST_PARALLEL)
        self._one_by_one: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        """A member does one job at a time: it has one history."""

    def tools_of(self, asker: LiveTurn) -> ToolMap:
        """What the member of this turn has to work with others. Looks at the disk."""
        if asker.row.member == COMMANDER:
            tools = commander_tools(
                self._floor.team(),
                dispatch=partial(self._dispatch, asker),
                worker=partial(self._run_worker, asker),
                hand_off=partial(self._hand_off, asker),
            )
            return {**tools, **self._plan_tools_of(asker)}
        return guest_tools(partial(self._hand_back, asker)) if asker.part == "floor" else {}

    async def take_up(self, asker: LiveTurn, history: Sequence[Message]) -> list[str]:
        """What came of the jobs that the asker gave before it was cut off, as far as its history does not have it.

        Where it goes on from there, those that were cut off too are done to their ends first, side by side.
        """
        rows = [row for row in given_before(self._store, asker.row) if not is_heard(row, history)]
        outcomes = {row.id: row.outcome for row in rows}
        goes_on_from = {turn.id for turn in stretch(self._store, asker.row)[1:]}

        async def take(row: TaskRow) -> None:
            try:
                outcomes[row.id] = (await self._work(asker, row)).text
            except (StorageError, WorkspaceError) as error:
                outcomes[row.id] = (
                    f"E_TASK: {self._floor.name_of(row.member)} could not go on with it: {error}"
                )

        with suppress(Aborted):
            async with asker.abort.guard(), anyio.create_task_group() as group:
                for row in rows:
                    if row.given in goes_on_from and row.state in ("interrupted", "waiting_for_form"):
                        group.start_soon(take, row)
        return [told for told in outcomes.values() if told]

    def waits(self, live: LiveTurn) -> None:
        """A turn begins to wait for the user, or goes on: its task is as it is."""
        if live.errand is None or live.ended.is_set() or live.floor.state == "stopping":
            return
        state: TaskState = "running"
        if live.floor.state == "asking":
            state = "waiting_for_form" if live.floor.detail == FORM else "waiting_for_approval"
        try:
            before = tasks.load_task(self._store, live.errand.task.id)
            if (row := tasks.move_task(self._store, before.id, state)) != before:
                self._tell(row)
        except StorageError:
            pass  # the list of tasks lags behind; how the turn ends is stored all the same

    def ended(self, live: LiveTurn, done: Done) -> None:
        """In the transaction that stores the end of a turn: its task ends with it, but where its form stays open.

        One of a plan is ended by that.
        """
        for row in self._given_by(live):
            if row.state == "queued":  # it was given up while the store took nothing
                self._tell(
                    tasks.end_task(self._store, row.id, "interrupted" if live.is_left else "cancelled")
                )
        if live.errand is None or live.errand.task.kind == "plan":
            return
        if not (live.is_left and self._waits_for_form(live.errand.task)):
            state = _ENDED[done.status]
            self._tell(
                tasks.end_task(self._store, live.errand.task.id, state, outcome(self._name(live), done))
            )
        for row in self._given_by(live):
            if row.state == "queued":  # it was given up while the store took nothing
                self._tell(
                    tasks.end_task(self._store, row.id, "interrupted" if live.is_left else "cancelled")
                )

    def drop_left(self) -> None:
        """The user has gone on in another way: nobody waits any more for the forms of a turn that was cut off."""
        for row in tasks.list_tasks(self._store, self._conversation):
            if row.state == "waiting_for_form" and row.kind != "plan":
                self._tell(tasks.end_task(self._store, row.id, "interrupted"))

    def _waits_for_form(self, row: TaskRow) -> bool:
        return tasks.load_task(self._store, row.id).state == "waiting_for_form"

    def try_again(self, row: TaskRow, model: str | None = None) -> LiveTurn:
        """A job is begun anew because the user asks for it, as a task of its own that nobody waits for.

        In a transaction, under the lock. The old one is taken up by nobody any more.
        """
        tasks.cancel_task(self._store, row.id)
        again = tasks.add_task(
            self._store,
            self._conversation,
            kind=row.kind,
            asker=USER,
            member=row.member,
            job=row.job,
            given=row.given,
            call_id="",
        )
        data = {"to": row.member, "how": "again", "task": again.id}
        asked = self._board.add("dispatch", member=USER, turn=None, text=row.job, data=data)
        return self._begin_alone(again, asked.id, model)

    def go_on_alone(self, turn_id: str) -> LiveTurn | None:
        """The job of a turn that was cut off goes on, where the user had asked for it and nobody else takes it up.

        In a transaction, under the lock.
        """
        turn = turns.load_turn(self._store, turn_id)
        row = tasks.find_task(self._store, turn.task) if turn.task else None
        return self._begin_alone(row, turn.trigger) if row and row.asker == USER else None

    def _begin_alone(self, row: TaskRow, asked: str, model: str | None = None) -> LiveTurn:
        """``asked``: the article in which the user asks for it."""
        asking = turns.load_turn(self._store, row.given)
        told = carry(led_to(self._store, asking), Request(row.job))
        errand = Errand(
            row, UserInput(told.text, asked), is_alone=True, model=model, attachments=told.attachments
        )
        live = self._turns.begin(row.member, trigger=asked, part="dispatched", errand=errand)
        self._tell(tasks.work_on_task(self._store, row.id, live.id, given=row.given))
        return live

    # The tools

    async def _dispatch(
        self, asker: LiveTurn, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolOutput:
        return await self._give(asker, context, "dispatch", str(arguments["to"]), str(arguments["message"]))

    async def _run_worker(
        self, asker: LiveTurn, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolOutput:
        return await self._give(
            asker, context, "worker", str(arguments.get("to") or ""), str(arguments["task"])
        )

    async def _hand_off(
        self, asker: LiveTurn, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolOutput:
        to, message = str(arguments["to"]), str(arguments["message"])
        async with self._lock:
            with self._board.together():
                refusal = refuse_turn(count_turns(self._store, asker.row)) or self._floor.pass_(
                    HandedOff(asker.row.member, to)
                )
                if refusal:
                    return ToolOutput.failed("E_DENIED", refusal)
                told = carry(self._led_to(asker), Request(message))
                keeps = self._floor.holder == to
                data = with_attachments({"told": told.text, "keeps": keeps}, told.attachments)
                self._add(asker, to, message, how="handoff", **data)
        return ToolOutput(
            f"{self._floor.name_of(to)} answers the user now. Your turn ends here.", ends_run=True
        )

    async def _hand_back(
        self, asker: LiveTurn, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolOutput:
        reason, summary = str(arguments["reason"]), str(arguments.get("summary") or "")
        async with self._lock:
            refusal = self.hand_back(asker, reason, summary)
        if refusal:
            return ToolOutput.failed("E_DENIED", refusal)
        return ToolOutput("The floor is Commander's again. Your turn ends here.", ends_run=True)

    def hand_back(self, asker: LiveTurn, reason: str = "", summary: str = "") -> str:
        """The floor goes back to Commander, by the tool or by the marker. Under the lock; returns a refusal."""
        member = asker.row.member
        open_ones = any(row.is_open for row in tasks.list_tasks(self._store, self._conversation))
        with self._board.together():
            refusal = self._floor.pass_(HandedBack(member, unfinished=open_ones))
            if not refusal:
                name, words = self._floor.name_of(member), "\n\n".join(filter(None, (reason, summary)))
                told = compose(
                    "handed_back", name=name, said=quoted(name, "Commander", words) if words else ""
                )
                self._add(asker, COMMANDER, reason, how="handback", told=told)
        return refusal

    # One task

    async def _give(
        self, asker: LiveTurn, context: ToolContext, kind: TaskKind, to: str, job: str
    ) -> ToolOutput:
        member = to or WORKER
        async with self._lock:
            if refusal := self._refuse(asker, to):
                return ToolOutput.failed("E_DENIED", refusal)
            beside = any(row.is_open and row.member != WORKER for row in self._given_by(asker))
            with self._board.together():
                row = tasks.add_task(
                    self._store,
                    self._conversation,
                    kind=kind,
                    asker=asker.row.member,
                    member=member,
                    job=job,
                    given=asker.id,
                    call_id=context.call_id,
                )
                self._tell(row)
                if to:
                    self._add(asker, to, job, how=kind, task=row.id, beside=beside)
        return await self._work(asker, row)

    async def _work(self, asker: LiveTurn, row: TaskRow) -> ToolOutput:
        """From its place in the row to its end, however that comes."""
        live: LiveTurn | None = None
        one_by_one = nullcontext() if row.member == WORKER else self._one_by_one[row.member]
        try:
            async with one_by_one, self._places:
                live = await self._begun(asker, row)
                if live is None:
                    return ToolOutput.failed("E_TASK", "It did not begin: the user stopped it.")
                await self._wait(live)
        finally:
            if live is None:
                self._give_up(asker, row)
        done = live.end()
        text = outcome(self._name(live), done)
        return ToolOutput(text) if done.status == "completed" else ToolOutput(text, error="E_TASK")

    async def _begun(self, asker: LiveTurn, row: TaskRow) -> LiveTurn | None:
        """Its turn, once its member is free: a plan may have given it something to do. None after a stop."""
        while True:
            async with self._lock:
                busy = None if row.member == WORKER else self._turns.of(row.member)
                if asker.abort.is_set:
                    return None
                if busy is None:
                    return self._begin(asker, row)
            await busy.ended.wait()

    def _begin(self, asker: LiveTurn, row: TaskRow) -> LiveTurn:
        told = carry(self._led_to(asker), Request(row.job))
        errand = Errand(row, UserInput(told.text, row.id), attachments=told.attachments)
        with self._board.together():
            live = self._turns.begin(row.member, trigger=row.id, part="dispatched", errand=errand)
            self._tell(tasks.work_on_task(self._store, row.id, live.id, given=asker.id))
        self._turns.go(live)
        return live

    async def _wait(self, live: LiveTurn) -> None:
        """Until it has ended. Whoever waits for it no longer, ends it."""
        try:
            await live.ended.wait()
        finally:
            with anyio.CancelScope(shield=True):
                if not live.ended.is_set():
                    live.stop()
                    with anyio.move_on_after(QUIET_WITHIN):
                        await live.ended.wait()
                if not live.ended.is_set():
                    live.cancel()
                    await live.ended.wait()

    def _give_up(self, asker: LiveTurn, row: TaskRow) -> None:
        """Nobody waits for it any more, and it has not begun."""
        try:
            if not asker.is_left:
                self._tell(tasks.end_task(self._store, row.id, "cancelled"))
            elif not self._waits_for_form(row):
                self._tell(tasks.end_task(self._store, row.id, "interrupted"))
        except StorageError:
            pass  # it is closed at the next start

    def _refuse(self, asker: LiveTurn, to: str) -> str:
        passing = self._floor.ask(Dispatched(asker.row.member, to))
        if passing.refusal:
            return passing.refusal
        asking = [asker.row.member]
        at_once = tasks.count_open(self._store, self._conversation)
        return (
            refuse_task(asking, to or None, at_once=at_once, turns=count_turns(self._store, asker.row)) or ""
        )

    def _led_to(self, asker: LiveTurn) -> Sequence[Request]:
        known = asker.errand.led_to if asker.errand else ()
        return known or led_to(self._store, asker.row)

    def _given_by(self, asker: LiveTurn) -> list[TaskRow]:
        return tasks.list_tasks(self._store, self._conversation, given=asker.id)

    def _add(self, asker: LiveTurn, to: str, text: str, **data: Any) -> MessageRow:
        return self._board.add(
            "dispatch", member=asker.row.member, turn=asker.id, text=text, data={"to": to, **data}
        )

    def _tell(self, row: TaskRow) -> None:
        self._board.publish(TaskChanged(row), member=row.member, turn=row.turn)

    def _name(self, live: LiveTurn) -> str:
        return self._floor.name_of(live.row.member)
