"""The plan of one room as it goes: what happens moves it on, and each step begins on the path of every other task.

``plan_steps.advance`` decides; here it is stored, with the messages and tasks that belong to it in one transaction,
and turns are begun. Nothing of a plan is kept in memory: after a crash the rows say all there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from app.engine.events import Done
from app.group_chat.board import Board
from app.group_chat.errors import CannotPlan
from app.group_chat.events import FORM, PlanChanged
from app.group_chat.floor_keeping import FloorKeeper
from app.group_chat.live_turns import LiveTurns
from app.group_chat.plan_check import keep_results
from app.group_chat.plan_forms import came_of_form
from app.group_chat.plan_records import KeptPlan, find_kept, in_figures, is_cut_off, read, stored
from app.group_chat.plan_runs import PlanRuns
from app.group_chat.plan_steps import Answered, Asked, Effect, Failed, PlanEvent, Stopped, WentOn, advance
from app.group_chat.plan_tasks import PlanTask
from app.group_chat.plan_values import Plan
from app.group_chat.plan_words import came_of
from app.group_chat.roles import COMMANDER, USER
from app.group_chat.turn import LiveTurn
from app.models.errors import StorageError
from app.workspace import plans
from app.workspace.rows import MessageRow, TaskState

_ENDED: Mapping[str, TaskState] = {"completed": "done", "aborted": "cancelled"}


class PlanDriver:
    """All is called under the room's lock, and what changes something belongs into a transaction."""

    def __init__(self, board: Board, turns: LiveTurns, floor: FloorKeeper) -> None:
        self._board = board
        self._store = board.store
        self._conversation = board.conversation
        self._turns = turns
        self._runs = PlanRuns(board, turns, floor)

    def find(self) -> KeptPlan | None:
        """The newest plan of the room."""
        return find_kept(self._store, self._conversation)

    @property
    def is_cut_off(self) -> bool:
        """Whether work of it was cut off by a crash, and waits for the user to go on."""
        kept = self.find()
        return kept is not None and is_cut_off(self._store, kept.id)

    @property
    def can_go_on(self) -> bool:
        """Whether it stands still until the user lets it begin or go on."""
        kept = self.find()
        return kept is not None and (kept.row.state == "stopped" or self.is_cut_off)

    def load(self) -> KeptPlan:
        """Raises ``CannotPlan`` where there is none."""
        kept = self.find()
        if kept is None or kept.is_replaced:
            raise CannotPlan("There is no plan here any more.")
        return kept

    def set(self, plan: Plan, *, setter: str, turn: str | None, title: str = "") -> KeptPlan:
        """Keep a plan in the place of the one before; it begins with ``go_on``, or at the end of the turn."""
        before = self.find()
        if before is not None:
            self._runs.withdraw(before)
            if setter == COMMANDER and before.row.state != "done":
                plan = keep_results(plan, before.plan)
        plan = replace(plan, stopped=True)
        row = plans.add_plan(
            self._store,
            self._conversation,
            id=self._store.new_id("plan"),
            title=title,
            setter=setter,
            turn=turn,
            state="stopped",
            content=stored(plan),
        )
        self._board.add("plan", id=row.id, member=setter, turn=turn, data=in_figures(row, plan))
        self._board.publish(PlanChanged(row), member=setter, turn=turn)
        return KeptPlan(row, plan)

    def ended(self, live: LiveTurn, done: Done, beside: Sequence[LiveTurn] = ()) -> list[LiveTurn]:
        """A turn has ended: its step with it, or the plan that it set begins. Returns the turns that follow.

        ``beside`` are those that begin for other reasons.
        """
        if live.errand is not None and live.errand.task.kind == "plan":
            self._task_ended(live, done)
        if done.status == "completed" and not live.abort.is_set:
            self._begin_set_in(live)
        return self._runs.begin_due(live, beside)

    def stopped(self) -> None:
        """The user has stopped all of the room."""
        kept = self.find()
        if kept is not None and kept.is_begun and kept.row.ended is None:
            self.happen(kept, Stopped())
            self._runs.withdraw(kept)

    def continue_(self, beside: Sequence[LiveTurn] = ()) -> list[LiveTurn]:
        """What was stopped or cut off goes on; the turns that begin, with ``beside`` others."""
        kept = self.load()
        for row in self._runs.tasks_of(kept):
            self._runs.take_up(row)
        self.happen(self.keep(kept, kept.plan), WentOn())
        return self._runs.begin_due(beside=beside)

    def waits(self, live: LiveTurn) -> None:
        """A turn begins to wait for the user's answers, or goes on: so does its step, and with it the plan."""
        task = _work_of(live)
        if task is None or live.ended.is_set() or live.floor.state == "stopping":
            return
        kept = self.find()
        if kept is None or live.errand is None or kept.id != live.errand.task.given:
            return  # another plan has been set in the place of its own
        asks = (live.floor.state, live.floor.detail) == ("asking", FORM)
        step = kept.plan.find(task.step)
        if step is None or not task.is_work_on(step) or asks == (step.status == "blocked"):
            return
        event = Asked(step.index, step.attempt, "") if asks else Answered(step.index, "")
        with suppress(StorageError):
            with self._board.together():
                self.happen(kept, event)
                begun = self._runs.begin_due()
            self._runs.go(begun)

    def keeps(self, form: MessageRow) -> bool:
        """See ``OfPlan``."""
        return "plan" in form.data or self._runs.task_of(form) is not None

    def form_ended(self, form: MessageRow) -> list[LiveTurn]:
        """See ``OfPlan``. The run of a member that asked is gone: it is taken up with the answer."""
        kept = self.find()
        if kept is None:
            return []
        if row := self._runs.task_of(form):
            self._runs.take_up(row)
            self.happen(kept, Answered(PlanTask.of(row).step, ""))
        else:
            self.happen(kept, came_of_form(form))
        return self._runs.begin_due()

    def begin_due(self) -> list[LiveTurn]:
        """Turns for what waits; they run from ``go`` on."""
        return self._runs.begin_due()

    def go(self, begun: Sequence[LiveTurn]) -> None:
        """See ``OfPlan``."""
        self._runs.go(begun)

    def _begin_set_in(self, live: LiveTurn) -> None:
        kept = self.find()
        if kept is not None and kept.row.turn == live.id and not kept.is_begun:
            self.happen(kept, WentOn())

    def _task_ended(self, live: LiveTurn, done: Done) -> None:
        assert live.errand is not None
        row = live.errand.task
        if self._turns.is_closing and done.status != "completed":
            self._runs.leave(row)
            return
        kept = read(plans.load_plan(self._store, row.given))
        task = PlanTask.of(row)
        event = came_of(task.step, task.attempt, done, self._runs.files_of(kept, task.step))
        outcome = event.reason if isinstance(event, Failed) else event.summary
        self._runs.end(row, _ENDED.get(done.status, "failed"), outcome)
        self._runs.settle(live.id)
        if task.is_question or kept.is_replaced:
            return
        step = kept.plan.steps[task.step - 1]
        if step.status == "blocked" and task.is_work_on(step):
            kept = self.happen(kept, Answered(step.index, ""))  # nobody waits for the answer any more
        self.happen(kept, event)

    def happen(self, kept: KeptPlan, event: PlanEvent) -> KeptPlan:
        """Move it on. What is to begin waits for ``begin_due``."""
        plan, effects = advance(kept.plan, event)
        if plan != kept.plan:
            kept = self.keep(kept, plan)
        for effect in effects:
            self._carry_out(kept, effect)
        return kept

    def keep(self, kept: KeptPlan, plan: Plan) -> KeptPlan:
        """Store it as it is now, and tell."""
        now = self._store.now()
        row = plans.change_plan(
            self._store,
            kept.id,
            content=stored(plan),
            state=plan.state,
            begun=kept.row.begun or (None if plan.stopped else now),
            ended=(kept.row.ended or now) if plan.state in ("done", "aborted") else None,
        )
        figures = in_figures(row, plan, cut_off=is_cut_off(self._store, row.id))
        self._board.change(row.id, data=figures)
        self._board.publish(PlanChanged(row), member=row.setter)
        return KeptPlan(row, plan)

    def _carry_out(self, kept: KeptPlan, effect: Effect) -> None:
        step = kept.plan.steps[effect.step - 1]
        match effect.kind:
            case "dispatch":
                row = self._runs.add(kept, PlanTask(step.index, effect.attempt), step.assignee, step.title)
                if not step.requeued:
                    self._runs.say(kept, row, step, effect.text)
            case "wake":
                self._runs.add(kept, PlanTask(step.index, effect.attempt), COMMANDER, step.title)
            case "ask_commander":
                about = PlanTask(step.index, effect.attempt, is_question=True)
                self._runs.add(kept, about, COMMANDER, f"Decide on step {step.index}, which failed")
            case "skip":
                self._runs.drop(kept, step)
            case "form" if step.assignee == USER:
                self._runs.ask(kept, step, effect.text)
            case "form" | "resume" | "end" | "requeue":
                pass  # the form of a member is its own, and its run goes on by itself


def _work_of(live: LiveTurn) -> PlanTask | None:
    """The attempt of a step that a turn is."""
    if live.errand is None or live.errand.task.kind != "plan":
        return None
    task = PlanTask.of(live.errand.task)
    return None if task.is_question else task
