"""A plan: steps that wait for each other, and what the executor knows of each.

The model and the user say what a step is. What became of it is written by ``plan_steps.advance`` alone, when a step
really began or ended. From each status it can only go to::

    pending      in_progress, blocked (a step of the user), skipped
    in_progress  done, failed, skipped (``continue``), blocked (its member asks), pending (requeued, stopped)
    blocked      done (a step of the user), in_progress (answered), skipped, pending (stopped)
    failed       pending (retried), skipped
    skipped      pending (the plan was aborted, and what aborted it is retried)
    done
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.group_chat.visibility import NO_REQUEST, Request

Status = Literal["pending", "in_progress", "done", "failed", "skipped", "blocked"]

OnFailure = Literal["abort_plan", "continue", "ask_commander"]

PlanState = Literal["running", "waiting_for_user", "waiting_for_commander", "stopped", "aborted", "done"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``attempt`` counts how often it was begun: the end of an earlier attempt is not that of this one."""

    index: int
    """From 1, without gaps; a step keeps it."""
    title: str
    assignee: str
    """``user``, ``commander`` or the id of a member."""
    input: str
    """A template, see ``plan_templates``; empty where the title says it all."""
    wait_for: tuple[int, ...] = ()
    """Earlier steps, rising."""
    on_failure: OnFailure = "ask_commander"
    fields: tuple[Mapping[str, Any], ...] = ()
    """Of the form of a user's step, as in ``ask_user``; none for the one field ``answer``."""
    status: Status = "pending"
    output_summary: str = ""
    output_files: tuple[str, ...] = ()
    failure_reason: str = ""
    """Why it failed or was skipped, for the user."""
    attempt: int = 0
    requeued: int = 0
    """Transient failures since it was last begun by a plan or a user."""

    @property
    def template(self) -> str:
        return self.input or self.title

    @property
    def is_over(self) -> bool:
        """Whether the steps that wait for it may go on."""
        return self.status in ("done", "skipped")


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in the order of their index, and the request that goes along with every one of them."""

    steps: tuple[Step, ...]
    request: Request = NO_REQUEST
    """The user's first message and its files."""
    parallel: int = 1
    """Steps that may be in progress at the same time."""
    stopped: bool = False
    """By the user; nothing begins until the user says so."""

    def find(self, index: int) -> Step | None:
        return self.steps[index - 1] if 0 < index <= len(self.steps) else None

    def with_step(self, step: Step) -> Plan:
        """The same plan with this step in the place of the one of its index."""
        return replace(self, steps=(*self.steps[: step.index - 1], step, *self.steps[step.index :]))

    def having(self, *statuses: Status) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.status in statuses)

    @property
    def aborted_by(self) -> Step | None:
        """The step whose failure ended the plan."""
        return next((step for step in self.having("failed") if step.on_failure == "abort_plan"), None)

    @property
    def state(self) -> PlanState:
        """What the plan as a whole is at. Whatever it waits for is a step that says why."""
        if self.having("in_progress"):
            return "running"
        if all(step.is_over for step in self.steps):
            return "done"
        if self.stopped:
            return "stopped"
        if self.aborted_by is not None:
            return "aborted"
        if self.having("blocked"):
            return "waiting_for_user"
        return "waiting_for_commander" if self.having("failed") else "running"
