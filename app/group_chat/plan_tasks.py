"""A task of a plan: which attempt of which step it is, or that it is a question about one. Kept as its ``call_id``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from app.group_chat.plan_values import Step
from app.workspace.rows import TaskRow

_QUESTION = "?"


@dataclass(frozen=True, slots=True)
class PlanTask:
    step: int
    attempt: int
    is_question: bool = False
    """Commander is asked what to do about its failure."""

    @property
    def as_call(self) -> str:
        return f"{self.step}.{self.attempt}{_QUESTION if self.is_question else ''}"

    @classmethod
    def of(cls, row: TaskRow) -> Self:
        step, _, attempt = row.call_id.removesuffix(_QUESTION).partition(".")
        return cls(int(step), int(attempt), row.call_id.endswith(_QUESTION))

    def is_work_on(self, step: Step) -> bool:
        """Whether it is what the step is at now."""
        return not self.is_question and (self.step, self.attempt) == (step.index, step.attempt)

    def told_id(self, plan: str, step: Step) -> str:
        """Of what its member is told: the same again after a transient failure, so that it is told only once."""
        first = self.attempt if self.is_question else self.attempt - step.requeued
        return f"{plan}.{self.step}.{first}{'.failed' if self.is_question else ''}"
