"""The work of one plan in its room: its tasks, the turns that do them, and the forms of the steps that are the user's.

A step is dispatched as anything else is: a task, a message that all see, and the turn of its member.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.steering import UserInput
from app.group_chat.board import Board
from app.group_chat.deeds import deeds_of
from app.group_chat.errands import Errand
from app.group_chat.events import FormShown, TaskChanged
from app.group_chat.floor_keeping import FloorKeeper
from app.group_chat.live_turns import LiveTurns
from app.group_chat.plan_forms import form_of
from app.group_chat.plan_records import KeptPlan, find_kept
from app.group_chat.plan_tasks import PlanTask
from app.group_chat.plan_values import Plan, Step
from app.group_chat.plan_words import told_for, told_of_failure
from app.group_chat.roles import COMMANDER
from app.group_chat.turn import LiveTurn
from app.workspace import messages, steps, tasks, turns
from app.workspace.rows import MessageRow, TaskRow, TaskState

MOST_FILES = 50
"""Files that a step hands on by name."""


class PlanRuns:
    """All is called under the room's lock, and what changes something belongs into a transaction."""

    def __init__(self, board: Board, turns: LiveTurns, floor: FloorKeeper) -> None:
        self._board = board
        self._store = board.store
        self._conversation = board.conversation
        self._turns = turns
        self._floor = floor

    def add(self, kept: KeptPlan, task: PlanTask, member: str, job: str) -> TaskRow:
        row = tasks.add_task(
            self._store,
            self._conversation,
            kind="plan",
            asker=COMMANDER,
            member=member,
            job=job,
            given=kept.id,
            call_id=task.as_call,
        )
        self._tell(row)
        return row

    def say(self, kept: KeptPlan, row: TaskRow, step: Step, text: str) -> None:
        """A dispatch like any other, for all to see."""
        data = {"to": step.assignee, "how": "plan", "task": row.id, "plan": kept.id, "step": step.index}
        self._board.add("dispatch", member=COMMANDER, turn=None, text=text, data=data)

    def ask(self, kept: KeptPlan, step: Step, text: str) -> None:
        form = form_of(step, text)
        data = {"call_id": "", "plan": kept.id, "step": step.index, **form.stored()}
        row = self._board.add(
            "form",
            id=self._store.new_id("form"),
            member=COMMANDER,
            turn=None,
            state="streaming",
            data=data,
        )
        shown = FormShown(row.id, form.title, tuple(row.data["fields"]))
        self._board.publish(shown, member=COMMANDER, message_id=row.id)

    def begin_due(self, ending: LiveTurn | None = None, beside: Sequence[LiveTurn] = ()) -> list[LiveTurn]:
        """Turns for the tasks that wait, of members that are free. ``ending`` is over, ``beside`` begin as well."""
        kept = find_kept(self._store, self._conversation)
        if kept is None or self._turns.is_closing:
            return []
        busy = {live.row.member for live in (*self._turns.all, *beside) if live is not ending}
        begun: list[LiveTurn] = []
        for row in self.tasks_of(kept):
            if row.state == "queued" and row.member not in busy:
                busy.add(row.member)
                begun.append(self._begin(kept.plan, row))
        return begun

    def go(self, begun: Sequence[LiveTurn]) -> None:
        for live in begun:
            self._turns.go(live)

    def take_up(self, row: TaskRow) -> None:
        """One that was cut off waits for its place again."""
        if row.state in ("interrupted", "waiting_for_form") and not self._live(row):
            self.settle(row.turn)
            self._tell(tasks.queue_task(self._store, row.id))

    def end(self, row: TaskRow, state: TaskState, outcome: str | None = None) -> None:
        self._tell(tasks.end_task(self._store, row.id, state, outcome))

    def leave(self, row: TaskRow) -> None:
        """The process ends. What waits for an answer of the user goes on waiting."""
        if tasks.load_task(self._store, row.id).state != "waiting_for_form":
            self._tell(tasks.end_task(self._store, row.id, "interrupted"))

    def withdraw(self, kept: KeptPlan) -> None:
        """What waits of it is not done any more; what runs goes to its end, and counts for nothing."""
        for row in self.tasks_of(kept):
            self._cancel(row)
        self._close_forms(kept)

    def drop(self, kept: KeptPlan, step: Step) -> None:
        """A run or a form that still waits for this step is over."""
        for row in self.tasks_of(kept):
            if PlanTask.of(row).is_work_on(step):
                if live := self._live(row):
                    live.stop()
                self._cancel(row)
        self._close_forms(kept, step)

    def files_of(self, kept: KeptPlan, step: int) -> tuple[str, ...]:
        """What the turns of a step have made or changed in the workspace."""
        worked = {row.id for row in self.tasks_of(kept) if PlanTask.of(row).step == step}
        ids = {row.id for row in turns.list_of_tasks(self._store, worked)}
        deeds = deeds_of(row for row in steps.list_steps(self._store, self._conversation) if row.turn in ids)
        lines = (line for deed in deeds for line in deed.tally.lines if line.kind != "removed")
        return tuple(dict.fromkeys(line.path for line in lines))[:MOST_FILES]

    def tasks_of(self, kept: KeptPlan) -> list[TaskRow]:
        return tasks.list_given(self._store, kept.id)

    def task_of(self, form: MessageRow) -> TaskRow | None:
        """The task of a plan whose member asked it."""
        turn = turns.find_turn(self._store, form.turn) if form.turn else None
        row = tasks.find_task(self._store, turn.task) if turn and turn.task else None
        return row if row is not None and row.kind == "plan" else None

    def settle(self, turn: str | None) -> None:
        """The notices of a turn offer nothing any more: the board does."""
        for message in messages.list_of_turn(self._store, turn) if turn else ():
            if message.kind in ("notice", "error") and not message.data.get("settled"):
                self._board.change(message.id, data={**message.data, "settled": True})

    def _begin(self, plan: Plan, row: TaskRow) -> LiveTurn:
        task = PlanTask.of(row)
        step = plan.steps[task.step - 1]
        if task.is_question:
            told = told_of_failure(plan, step, self._floor.name_of)
        else:
            told = told_for(plan, step, self._floor.name_of)
        errand = Errand(
            row,
            UserInput(told, task.told_id(row.given, step)),
            led_to=(plan.request,),
            attachments=() if task.is_question else plan.request.attachments,
        )
        live = self._turns.begin(row.member, trigger=row.id, part="dispatched", errand=errand)
        self._tell(tasks.work_on_task(self._store, row.id, live.id, given=row.given))
        return live

    def _cancel(self, row: TaskRow) -> None:
        """Nobody does it any more; one that runs comes to its own end."""
        if row.state in ("queued", "interrupted", "waiting_for_form") and not self._live(row):
            self.settle(row.turn)
            self._tell(tasks.cancel_task(self._store, row.id))

    def _close_forms(self, kept: KeptPlan, step: Step | None = None) -> None:
        """Those of the user's steps, and of members whose run is gone."""
        for form in messages.list_of_kind(self._store, self._conversation, "form"):
            row = self.task_of(form)
            plan, index = form.data.get("plan"), form.data.get("step")
            if row is not None and not self._live(row):
                plan, index = row.given, PlanTask.of(row).step
            if form.state == "streaming" and plan == kept.id and (step is None or step.index == index):
                self._board.change(form.id, state="interrupted")

    def _live(self, row: TaskRow) -> LiveTurn | None:
        of_it = (live for live in self._turns.all if live.errand and live.errand.task.id == row.id)
        return next(of_it, None)

    def _tell(self, row: TaskRow) -> None:
        self._board.publish(TaskChanged(row), member=row.member, turn=row.turn)
