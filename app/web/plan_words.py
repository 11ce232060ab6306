"""How plans and their steps stand, in words; the article that a plan has in the chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.group_chat.plan_values import Status
from app.web.entries import PlanEntry
from app.web.plain import one_line
from app.web.task_views import Standing
from app.workspace.rows import MessageRow, TaskState

_COUNTED = (
    ("done", "done"),
    ("in_progress", "running"),
    ("blocked", "needs you"),
    ("failed", "failed"),
    ("skipped", "skipped"),
)


def plan_entry(row: MessageRow, frame: Mapping[str, Any]) -> PlanEntry:
    steps, counts = int(row.data.get("steps", 0)), row.data.get("counts", {})
    words = dict(_COUNTED) | ({"in_progress": "cut off"} if row.data.get("cut_off") else {})
    told = [f"{counts[status]} {word}" for status, word in words.items() if counts.get(status)]
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


STATUSES: Mapping[Status, Standing] = {
    "pending": Standing("", "idle", "pending"),
    "in_progress": Standing("live", "strong", "in progress"),
    "done": Standing("tick", "done", "done"),
    "failed": Standing("octagon", "failed", "failed"),
    "skipped": Standing("bar", "idle", "skipped"),
    "blocked": Standing("diamond", "needs", "needs you"),
}
AT_WORK: Mapping[TaskState, Standing] = {
    # What is more exact than "in progress".
    "queued": Standing("", "idle", "waits for its member"),
    "interrupted": Standing("broken", "", "cut off"),
    "waiting_for_approval": Standing("diamond", "needs", "needs you"),
}
STATES: Mapping[str, tuple[Standing, str]] = {
    "set": (Standing("", "idle", "not begun"), "It begins when you say so."),
    "running": (Standing("live", "strong", "running"), ""),
    "waiting_for_user": (
        Standing("diamond", "needs", "needs you"),
        "A step waits for your answer in the chat.",
    ),
    "waiting_for_commander": (
        Standing("octagon", "failed", "a step failed"),
        "Commander was asked what to do. You can retry or skip the step yourself.",
    ),
    "stopped": (Standing("bar", "", "stopped"), "Steps that ran begin anew when it goes on."),
    "cut_off": (
        Standing("broken", "", "cut off"),
        "Plancia ended while a step was being done. It goes on from there.",
    ),
    "aborted": (Standing("octagon", "failed", "ended by a failure"), "Retry the step that failed to go on."),
    "done": (Standing("tick", "done", "done"), ""),
    "replaced": (Standing("bar", "idle", "replaced"), ""),
}
