"""The article that a plan has in the chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.web.entries import PlanEntry
from app.web.plain import one_line
from app.workspace.rows import MessageRow

_COUNTED = (
    ("done", "done"),
    ("in_progress", "running"),
    ("blocked", "needs you"),
    ("failed", "failed"),
    ("skipped", "skipped"),
)


def plan_entry(row: MessageRow, frame: Mapping[str, Any]) -> PlanEntry:
    steps, counts = int(row.data.get("steps", 0)), row.data.get("counts", {})
    told = [f"{counts[status]} {word}" for status, word in _COUNTED if counts.get(status)]
    if row.data.get("state") in ("stopped", "replaced"):
        told.append(str(row.data["state"]))
    how_many = f"{steps} step{'' if steps == 1 else 's'}"
    title = one_line(str(row.data.get("title") or ""))
    return PlanEntry(
        kind="plan",
        title=title or how_many,
        figures=" · ".join([how_many, *told] if title else told),
        board=f"/conversations/{row.conversation}?tab=plan",
        **frame,
    )
