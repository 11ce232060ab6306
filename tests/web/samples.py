"""Rows and pages for tests of templates: one message of every kind in every state, and the page around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, get_args

from markupsafe import Markup

from app.group_chat.deeds import deeds_of
from app.group_chat.events import Floor
from app.group_chat.forms import FieldType, Form, read_form
from app.group_chat.plan_records import KeptPlan, stored
from app.group_chat.plan_values import Plan, Step
from app.group_chat.visibility import Request
from app.infra.paths import asset_root
from app.providers.demo import SUGGESTIONS
from app.web.assets import Assets
from app.web.attachment_views import Chosen, attachment_views
from app.web.deed_views import deed_views
from app.web.floor_views import floor_view
from app.web.job_views import JobView
from app.web.member_words import Person
from app.web.page_views import (
    Callee,
    Composer,
    ModelOption,
    Picker,
    Shell,
    UsageLine,
    UsageView,
    conversation_view,
    queue_view,
    rail_groups,
)
from app.web.plan_views import BoardView, Traces, board_view, earlier_view
from app.web.rendering import Templates
from app.web.task_views import task_view, turn_view
from app.web.timeline import Span, timeline
from app.web.times import local
from app.web.views import MessageView, message_views
from app.workspace.attached import Attachment, with_attachments
from app.workspace.rows import (
    ConversationRow,
    MessageKind,
    MessageRow,
    MessageState,
    PlanRow,
    QueuedRow,
    StepRow,
    TaskRow,
    TurnRow,
)
from app.workspace.steps import RESTORE

TEMPLATES = Templates(asset_root("templates"), Assets(asset_root("static")))
TIME = "2026-11-30T12:00:00.000Z"
ATTACHED = (
    Attachment("attachments/conv_1/att_1/<b>.log", 18_000),
    Attachment("attachments/conv_1/att_2/seen.png", 212_000, "results/conv_1/img_2.png"),
)
_TALLY = {
    "files": 2,
    "lines": [
        {"key": "k1", "path": "a.txt", "kind": "changed", "added": 2, "removed": 1},
        {"key": "k2", "path": "<b>.bin", "kind": "added", "added": None, "removed": None},
    ],
}
DONE = StepRow("step_1", "conv_1", "turn_1", "c", "bash", None, "snap_1", "snap_2", _TALLY, TIME)
UNDONE = replace(DONE, id="step_2", turn="undo_1", call_id="", tool=RESTORE, undoes="turn_1")
RESTING = Floor()
WRITING = Floor("writing", "commander", "turn_1", TIME)

JOB = JobView(
    id="job_1",
    command="make <b>serve</b>",
    first_line="make <b>serve</b>",
    folder="/home/me/work",
    conversation="A title",
    came_from="/conversations/conv_1",
    mark="live",
    tone="",
    word="running",
    runs=True,
    is_kept=False,
    since=local(TIME),
    seconds=None,
)

_numbers = itertools.count(1)


def row(
    kind: MessageKind,
    state: MessageState = "done",
    text: str = "",
    /,
    *,
    member: str = "commander",
    **data: Any,
) -> MessageRow:
    number = next(_numbers)
    created = f"2026-11-30T12:00:00.{number % 1000:03}Z"
    return MessageRow(
        f"msg_{number}", "conv_1", number, number, "turn_1", member, kind, state, text, data, created, None
    )


def every_form() -> Form:
    """A form with a field of every type, of one that has everything and of one that has nothing."""
    fields: list[dict[str, Any]] = []
    for kind in get_args(FieldType):
        options = {"options": ["x", "<b>y</b>", "z"]} if kind in ("select", "multiselect") else {}
        fields.append({"id": kind, "type": kind, "label": f"What <b>{kind}</b>?", **options})
        fields.append({**fields[-1], "id": f"{kind}_2", "required": True, "help": "A <b>line</b>."})
        fields[-1]["default"] = {"multiselect": ["x", "z"], "boolean": True}.get(kind, "x")
    form = read_form({"title": "Choices <b>for</b> you", "fields": fields})
    assert isinstance(form, Form)
    return form


PROPOSED = [
    {"index": 1, "title": "Count <b>all</b>", "assignee": "coder", "input": "<i>Now</i>.", "wait_for": []},
    {"index": 2, "title": "Say", "assignee": "user", "input": "", "wait_for": [1]},
    {"index": 3, "title": "Print", "assignee": "writer", "input": "", "wait_for": [1]},
]
"""The steps of a plan that is asked about."""


def every_row() -> list[MessageRow]:
    """Every kind in every state that it can have."""
    call = {"call_id": "c", "name": "read_file", "arguments": {"path": "a.txt"}, "duration_ms": 412}
    asks = {
        "call_id": "c",
        "approval": "command",
        "tool": "bash",
        "payload": "rm -r build && <b>make</b>",
        "reasons": ["It deletes files."],
        "facts": [["Runs in", "/home/me/work"]],
        "rules": ["rm -r build"],
        "offers": ["allow_once", "allow_run", "allow_always", "deny"],
    }
    form = every_form().stored()
    return [
        row("user", "done", "Please look", member="user"),
        row("user", "done", "Faster", member="user", sent="steer"),
        row("user", "done", "", member="user", **with_attachments({}, ATTACHED)),
        row(
            "user",
            "done",
            "@Tutor @<b>",
            member="user",
            to=["tutor", "coder"],
            unknown=["<b>"],
            absent=["writer"],
        ),
        row("dispatch", "done", "Read the <b>notes</b>.", how="dispatch", to="researcher", task="task_1"),
        row("dispatch", "done", "Patch it.\nThen test it.", how="dispatch", to="coder", beside=True),
        row("dispatch", "done", "Count.", how="worker", to="analyst", task="task_3"),
        row("dispatch", "done", "A lesson.", how="handoff", to="tutor", keeps=True),
        row("dispatch", "done", "A lesson.", how="handoff", to="tutor", keeps=True, settled=True),
        row("dispatch", "done", "Answer.", how="handoff", to="coder"),
        row("dispatch", "done", "", how="handback", to="commander", member="tutor"),
        row("dispatch", member="user", how="takeback", to="tutor"),
        row("assistant", "done", "**done**", reasoning="I looked.", thought_ms=8000),
        row("assistant", "streaming", "half a"),
        row("assistant", "interrupted", "cut"),
        row("assistant", "failed", "cut"),
        row("tool_call", "streaming", **{**call, "duration_ms": None}),
        row("tool_call", result="text", **call),
        row("tool_call", "failed", result="E_STALE: changed", is_error=True, error_code="E_STALE", **call),
        row("tool_call", "interrupted", call_id="c", name="unheard_of", arguments={"some": {"x": 1}}),
        row("approval", "streaming", **asks),
        row(
            "approval",
            "streaming",
            **{**asks, "rules": [], "offers": ["allow_once", "deny"], "may_add_network": True},
        ),
        row("approval", "streaming", **{**asks, "rules": ["git push origin main", "git push origin …"]}),
        row("approval", "streaming", **{**asks, "approval": "plan", "steps": PROPOSED}),
        row("approval", decision="allow_once", decided_at=TIME, **asks),
        row("approval", decision="deny", reason="Not <b>now</b>", decided_at=TIME, **asks),
        row("approval", "interrupted", **asks),
        row("plan", "done", steps=1, counts={"pending": 1}, state="stopped"),
        row("plan", "done", title="<b>Report</b>", steps=4, counts={"done": 2, "failed": 1, "blocked": 1}),
        row("form", "streaming", **form),
        row("form", "streaming", **{**form, "title": ""}, member="worker"),
        row("form", **form, answer="sent", answers={"name": "<b>", "size": None}, answered_at=TIME),
        row("form", **form, answer="declined", why="Not <b>now</b>", answered_at=TIME),
        row("form", "interrupted", **form),
        row("notice", "streaming", "The server is busy", notice="retry", attempt=1, wait_ms=2000, until=TIME),
        row("notice", notice="compaction", before=151_000, after=38_000),
        row("notice", notice="compaction", before=151_000, after=38_000, summary="msg_of_the_session"),
        row("notice", notice="fallback", **{"from": "a/b", "to": "c/d"}, reason="a is limiting requests"),
        row("notice", "done", "a/b is sent this without earlier thinking.", notice="omission", model="a/b"),
        row("notice", notice="loop_warning", name="read_file", count=3),
        row("notice", notice="stopped"),
        row("notice", notice="limit", reason="loop", name="read_file", steps=9),
        row("notice", notice="limit", reason="steps", steps=120),
        row("notice", member="user", notice="restored", deed="undo_1", of="turn", began=TIME, files=2),
        row("notice", "done", "The disk is full.", notice="not_undoable"),
        row("notice", notice="interrupted", reason="output_limit"),
        row("notice", notice="interrupted"),
        row("notice", notice="interrupted", settled=True),
        row("notice", "done", "Something of a later version", notice="unheard_of"),
        row(
            "error",
            "failed",
            "The key was refused (401). Replace it.",
            kind="auth",
            detail="bad key",
            reference="R-1",
        ),
        row("error", "failed", "It failed. Try again.", kind="server", task="task_1", member="tutor"),
        row("notice", notice="stopped", task="task_1", member="tutor"),
        row("error", "failed", "It failed", kind="server", settled=True),
        row(
            "error",
            "failed",
            "lab limits requests. Wait a little.",
            kind="rate_limit",
            model="lab/big",
            others=[
                {"model": "lab/big", "key": 2, "kind": "balance", "until": TIME},
                {"model": "den/old", "said": "den failed on its own side."},
            ],
        ),
    ]


def conversation(title: str = "A title", workspace: str = "/home/me/work") -> ConversationRow:
    return ConversationRow("conv_1", title, "user", workspace, None, False, False, None, TIME, TIME, 1)


def page(rows: Iterable[MessageRow] = (), **changes: Any) -> Markup:
    """The page of a conversation; ``changes`` replace what the template is given."""
    return TEMPLATES.render("conversation/page.html", **values(message_views(rows)) | changes)


def kept_plan() -> KeptPlan:
    """A plan with a step in every status."""
    steps = (
        Step(
            1,
            "Count <b>all</b>",
            "coder",
            "",
            (),
            status="done",
            output_summary="Two.",
            output_files=("a<b>.txt",),
        ),
        Step(2, "Write", "writer", "About {{step_1.output_summary}}", (1,), status="in_progress", attempt=2),
        Step(3, "Fetch", "researcher", "", (1,), status="failed", failure_reason="No <b>net</b>."),
        Step(4, "Say", "user", "Which?", (1,), status="blocked"),
        Step(5, "Check", "commander", "", (2, 3), "continue"),
        Step(6, "Print", "coder", "", (5,), "abort_plan", status="skipped", failure_reason="You skipped it."),
    )
    plan = Plan(steps, Request("Do it."))
    row = PlanRow(
        "plan_1", "conv_1", 1, "<b>Report</b>", "user", None, plan.state, stored(plan), TIME, TIME, None
    )
    return KeptPlan(row, plan)


def board() -> BoardView:
    form = replace(row("form", "streaming"), id="form_4", data={"plan": "plan_1", "step": 4})
    return board_view(kept_plan(), Traces(forms=[form]), ["coder", "writer"])


def values(messages: Sequence[MessageView] = (), floor: Floor = RESTING, **more: Any) -> dict[str, Any]:
    """What the page of a conversation, and each template of its stream, is given."""
    kinds = (("queue", ATTACHED), ("steer", ATTACHED[:1]), ("held", ()))
    queued = [
        QueuedRow(
            f"wait_{kind}",
            "conv_1",
            kind,
            f"later <b>{kind}</b>",
            kind,
            at,
            TIME,
            with_attachments({}, files),
        )
        for at, (kind, files) in enumerate(kinds, start=1)
    ]
    turn = TurnRow("turn_1", "conv_1", 1, "commander", "s", "msg_1", "failed", None, None, None, TIME, TIME)
    task = TaskRow(
        "task_1", "conv_1", 1, "dispatch", "commander", "coder", "Count\n<b>all</b>", "turn_1", "c", "turn_1",
        "failed", "E_TASK: Coder did not <b>finish</b>", TIME, TIME,
    )  # fmt: skip
    running = replace(task, id="task_2", state="running", outcome=None, ended=None)
    span = Span(Person("Coder", "a2"), "Count <b>", local(TIME), local(TIME), ((local(TIME), local(TIME)),))
    shown: Mapping[str, Any] = {
        "conversation": conversation_view(conversation()),
        "shell": Shell(
            rail_groups([conversation()], today=date(2026, 11, 30), current="conv_1"), "127.0.0.1:8484"
        ),
        "messages": messages,
        "earlier": None,
        "floor": floor_view([floor] if floor.is_live else []),
        "queue": queue_view(queued),
        "roster": (Callee("commander", "Commander", "cmd", "Leads"), Callee("own-one", "Own <b>", "a1", "")),
        "examples": SUGGESTIONS,
        "composer": Composer(
            floor.is_live, "steer", Picker(False, "a/b, then c/d", (ModelOption("a/b", "a/b", False),))
        ),
        "draft": "",
        "attached": attachment_views("conv_1", ATTACHED),
        "chosen": Chosen(attachment_views("conv_1", ATTACHED), ("<b>.zip is 48 MB",)),
        "usage": UsageView((UsageLine("a/b", 2, 1200, 300, 0.2),), 1500, 0.2, True),
        "turns": (turn_view(turn, None, tasks=(task_view(task, turn), task_view(running, None))),),
        "timeline": timeline([span, replace(span, who=Person("<b>", "a1"), ended=None)]),
        "deeds": deed_views("conv_1", deeds_of([DONE, UNDONE]), {}),
        "jobs": (JOB,),
        "plan": board(),
        "earlier_plans": [earlier_view(kept_plan().row)],
        "tab": "tasks",
        "cursor": "boot-1",
    }
    return dict(shown) | more
