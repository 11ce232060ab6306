"""A call that asks, in words: what it wants to do, why it asks, what can be answered, and what was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.group_chat.approvals import TOO_LATE
from app.web.entries import ApprovalView
from app.web.member_words import FindAgent, nobody
from app.web.plain import one_line, plain
from app.web.proposed_plans import proposed_plan
from app.web.times import local
from app.workspace.rows import MessageRow

_WANTS = {
    "command": ("wants to run a command", "Command"),
    "input": ("wants to type into a background job", "Input"),
    "read": ("wants to read a file that may hold secrets", "File"),
    "change": ("wants to change a file", "Change"),
    "delete": ("wants to delete a file", "File"),
    "folder": ("wants to look outside the workspace", "Path"),
    "network": ("wants to reach the web", "What it sends"),
    "plan": ("wants to start a plan", "Steps"),
    "agent": ("proposes an agent", "File"),
    "picture": ("wants to have a picture drawn", "Description"),
}
_DECIDED = {
    "allow_once": "You allowed this once",
    "allow_run": "You allowed this for the run",
    "allow_always": "You allowed this always",
    "deny": "You denied this",
}


def approval_view(row: MessageRow, frame: Mapping[str, Any], agents: FindAgent = nobody) -> ApprovalView:
    data = row.data
    wants, what = _WANTS.get(str(data.get("approval")), ("wants to go on", "What"))
    decision, waits = str(data.get("decision") or ""), row.state == "streaming"
    decided = _DECIDED.get(decision, "" if waits else TOO_LATE)
    return ApprovalView(
        kind="approval",
        waits=waits,
        question=f"{frame['label']} {wants}",
        what=what,
        payload=plain(str(data.get("payload") or "")),
        plan=proposed_plan(data.get("steps") or (), agents),
        reasons=tuple(one_line(str(reason)) for reason in data.get("reasons") or ()),
        facts=tuple((one_line(str(name)), one_line(str(value))) for name, value in data.get("facts") or ()),
        rules=tuple(one_line(str(rule)) for rule in data.get("rules") or ()),
        can_repeat="allow_run" in (data.get("offers") or ()),
        can_last="allow_always" in (data.get("offers") or ()),
        may_add_network=bool(data.get("may_add_network")),
        decision=decision,
        decided=decided,
        decided_at=local(str(data["decided_at"])) if data.get("decided_at") else None,
        reason=one_line(str(data.get("reason") or "")),
        decide=f"/conversations/{row.conversation}/approvals/{row.id}",
        **{**frame, "state": "done" if waits else row.state},
    )
