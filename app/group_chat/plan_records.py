"""A plan as it is stored, and back: one row for each plan, so that whatever happens to a step is one write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.group_chat.plan_values import Plan, Step
from app.group_chat.plan_words import retold
from app.group_chat.visibility import Request
from app.workspace import messages, plans, tasks
from app.workspace.attached import read_attachments
from app.workspace.rows import PlanRow
from app.workspace.store import Store

_TUPLES = ("wait_for", "fields", "output_files")


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan and the row that it was read from."""

    row: PlanRow
    plan: Plan

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def is_begun(self) -> bool:
        return self.row.begun is not None

    @property
    def is_replaced(self) -> bool:
        return self.row.state == "replaced"


def stored(plan: Plan) -> dict[str, Any]:
    """As JSON."""
    return asdict(plan)


def find_kept(store: Store, conversation: str) -> KeptPlan | None:
    """The newest plan of a conversation."""
    row = plans.find_plan(store, conversation)
    return read(row) if row else None


def open_plan(store: Store, conversation: str) -> str:
    """The plan that goes on, as Commander hears it again; empty without one."""
    kept = find_kept(store, conversation)
    return retold(kept.plan) if kept is not None and kept.row.ended is None else ""


def read(row: PlanRow) -> KeptPlan:
    content = row.content
    request = content["request"]
    return KeptPlan(
        row,
        Plan(
            tuple(_step(step) for step in content["steps"]),
            Request(request["text"], read_attachments(request["attachments"])),
            content["parallel"],
            content["stopped"],
        ),
    )


def in_figures(row: PlanRow, plan: Plan, *, cut_off: bool = False) -> dict[str, Any]:
    """What the article of the chat shows of it; ``cut_off``: nobody works any more on what is in progress."""
    counts = Counter(step.status for step in plan.steps)
    return {
        "title": row.title,
        "state": row.state,
        "steps": len(plan.steps),
        "counts": dict(counts),
        "cut_off": cut_off,
    }


def is_cut_off(store: Store, plan: str) -> bool:
    """Whether work of a plan was cut off, and waits for the user to go on."""
    return any(task.state == "interrupted" for task in tasks.list_given(store, plan))


def say_cut_off(store: Store) -> None:
    """After a start: the articles of plans that were being worked off say that nobody does any more."""
    for row in plans.list_open(store):
        article = messages.find_message(store, row.id)
        if article is not None and is_cut_off(store, row.id):
            messages.update_message(store, row.id, data=in_figures(row, read(row).plan, cut_off=True))


def _step(kept: Mapping[str, Any]) -> Step:
    return Step(**{**kept, **{name: tuple(kept[name]) for name in _TUPLES}})
