"""Words for tests about plans: what Commander sets, and what has become of it."""

from __future__ import annotations

from typing import Any

from app.engine.errors import ProviderError
from app.engine.scripted import call
from app.group_chat.plan_records import KeptPlan, find_kept
from tests.group_chat.rooms import House

REFUSED = ProviderError("auth", "The key was refused.")
DOWN = ProviderError("server", "The server is down.")


def step(index: int, assignee: str, input: str = "", **more: Any) -> dict[str, Any]:
    return {"index": index, "title": f"Part {index}", "assignee": assignee, "input": input, **more}


def set_plan(*steps: dict[str, Any], id: str = "p1") -> list[Any]:
    return [call("set_plan", id, steps=list(steps))]


def plan_at(at: House) -> KeptPlan:
    kept = find_kept(at.store, at.room.id)
    assert kept is not None
    return kept


def board(at: House) -> list[str]:
    return [one.status for one in plan_at(at).plan.steps]


def chat(at: House) -> list[tuple[str, str, str]]:
    return [(row.member, row.kind, row.text) for row in at.rows() if row.kind != "tool_call"]
