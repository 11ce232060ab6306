"""What is done to a plan from outside: Commander sets it, the user lets it go on, retries, skips, edits, stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import anyio

from app.engine.tools import ToolContext, ToolMap, ToolOutput
from app.group_chat.board import Board
from app.group_chat.bounds import refuse_turn
from app.group_chat.errors import CannotPlan
from app.group_chat.events import ConversationChanged
from app.group_chat.floor_keeping import FloorKeeper
from app.group_chat.leading import count_turns, led_to
from app.group_chat.live_turns import LiveTurns
from app.group_chat.plan_check import PlanRefused, check_plan, edit_step
from app.group_chat.plan_driver import PlanDriver
from app.group_chat.plan_forms import wrong_fields
from app.group_chat.plan_records import KeptPlan
from app.group_chat.plan_steps import Looked, PlanEvent, Retried, Skipped
from app.group_chat.plan_tasks import PlanTask
from app.group_chat.plan_tool import plan_tools
from app.group_chat.plan_values import Plan, Step
from app.group_chat.roles import COMMANDER, USER
from app.group_chat.turn import LiveTurn
from app.group_chat.visibility import NO_REQUEST, Request
from app.workspace.settings import get_number

MOST_PARALLEL = 20
"""Steps of a plan that may be in progress at the same time, as the setting ``plan.parallel`` has it."""


class Planning:
    """Its methods raise ``CannotPlan`` where the plan is not such that it could be done."""

    def __init__(
        self, board: Board, turns: LiveTurns, floor: FloorKeeper, lock: anyio.Lock, driver: PlanDriver
    ) -> None:
        self._board = board
        self._store = board.store
        self._turns = turns
        self._floor = floor
        self._lock = lock
        self._driver = driver

    def find(self) -> KeptPlan | None:
        """The newest plan of the room, as it stands now."""
        return self._driver.find()

    def tools_of(self, asker: LiveTurn) -> ToolMap:
        """What Commander has to set a plan. Looks at the disk."""
        return plan_tools(self.member_ids(), partial(self._set_plan, asker))

    async def go_on(self) -> None:
        """Begin, or go on after a stop or a crash."""
        async with self._lock:
            if not self._driver.can_go_on:
                raise CannotPlan("The plan goes on already, or has ended.")
            with self._board.together():
                begun = self._driver.continue_()
            self._driver.go(begun)

    async def retry(self, step: int) -> None:
        await self._act(Retried(step), f"Step {step} has not failed, so there is nothing to retry.")

    async def skip(self, step: int) -> None:
        await self._act(Skipped(step), f"Step {step} has ended or is being done and cannot be skipped.")

    async def edit(self, step: int, changes: Mapping[str, Any]) -> None:
        """Change a step that has not begun, checked as one of a new plan."""

        def edited(plan: Plan) -> Plan:
            changed = edit_step(plan, step, changes, self.member_ids())
            if isinstance(changed, PlanRefused):
                raise CannotPlan(changed.sentence)
            return changed

        await self._change(edited)

    async def set_parallel(self, steps: int) -> None:
        """So many steps may be in progress at the same time from now on; those that are go on."""
        if not 1 <= steps <= MOST_PARALLEL:
            raise CannotPlan(f"From 1 to {MOST_PARALLEL} steps can be done at the same time.")
        await self._change(lambda plan: replace(plan, parallel=steps))

    async def stop(self) -> None:
        """What runs of it ends, and nothing begins until the user goes on. All else in the room goes on."""
        async with self._lock:
            with self._board.together():
                self._driver.stopped()
            stopping = [live for live in self._turns.all if live.errand and live.errand.task.kind == "plan"]
            for live in stopping:
                live.stop()
        for live in stopping:
            await self._turns.stop(live)

    async def run(self, given: Sequence[Mapping[str, Any]], title: str, text: str) -> None:
        """The user's own plan begins at once; ``text`` says so in the chat, and is the request of its steps."""
        async with self._lock:
            if at_work := self._at_work():
                raise CannotPlan(_still_at_work(at_work))
            plan = check_plan(given, self.member_ids(), Request(text), self._parallel())
            if isinstance(plan, PlanRefused):
                raise CannotPlan(plan.sentence)
            if wrong := wrong_fields(plan.steps):
                raise CannotPlan(wrong)
            with self._board.together():
                self._board.add("user", member=USER, turn=None, text=text, data={"to": [COMMANDER]})
                self._driver.set(plan, setter=USER, turn=None, title=title)
                begun = self._driver.continue_()
            self._driver.go(begun)
        self._board.publish(ConversationChanged(), member=USER)

    async def _change(self, change: Callable[[Plan], Plan]) -> None:
        """What may begin by it begins."""
        async with self._lock:
            with self._board.together():
                kept = self._driver.load()
                self._driver.happen(self._driver.keep(kept, change(kept.plan)), Looked())
                begun = self._driver.begin_due()
            self._driver.go(begun)

    async def _act(self, event: PlanEvent, otherwise: str) -> None:
        async with self._lock:
            with self._board.together():
                kept = self._driver.load()
                if self._driver.happen(kept, event).plan == kept.plan:
                    raise CannotPlan(otherwise)
                begun = self._driver.begin_due()
            self._driver.go(begun)

    async def _set_plan(
        self, asker: LiveTurn, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolOutput:
        async with self._lock:
            if refusal := refuse_turn(count_turns(self._store, asker.row)):
                return ToolOutput.failed("E_DENIED", refusal)
            if at_work := self._at_work(asker):
                return ToolOutput.failed("E_DENIED", _still_at_work(at_work))
            said = (asker.errand.led_to if asker.errand else ()) or led_to(self._store, asker.row)
            request = said[0] if said else NO_REQUEST
            plan = check_plan(arguments["steps"], self.member_ids(), request, self._parallel())
            if isinstance(plan, PlanRefused):
                return ToolOutput.failed("E_ARGUMENTS", plan.sentence)
            if wrong := wrong_fields(plan.steps):
                return ToolOutput.failed("E_ARGUMENTS", wrong)
            with self._board.together():
                self._driver.set(plan, setter=COMMANDER, turn=asker.id)
        return ToolOutput(
            f"The plan is set: {len(plan.steps)} steps. It begins now that your turn ends.", ends_run=True
        )

    def member_ids(self) -> list[str]:
        """The agents that a step can be given to. Looks at the disk."""
        return [agent.id for agent in self._floor.team()]

    def _parallel(self) -> int:
        return int(get_number(self._store, "plan.parallel"))

    def _at_work(self, asker: LiveTurn | None = None) -> list[Step]:
        """Steps of the plan that somebody else is at: it cannot be set anew meanwhile."""
        kept = self._driver.find()
        if kept is None or kept.row.ended is not None:
            return []
        own = PlanTask.of(asker.errand.task).step if asker and asker.errand else 0
        return [step for step in kept.plan.having("in_progress") if step.index != own]


def _still_at_work(steps: Sequence[Step]) -> str:
    named = ", ".join(f"{step.index} ({step.assignee})" for step in steps)
    return (
        f"Step {named} of the plan is still being done, so it cannot be set anew. Wait until you are asked, or tell "
        "the user, who can stop the plan."
    )
