"""Work that is given, and the floor that is passed on, as a line of the chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from app.web.entries import DispatchView
from app.web.member_words import FindAgent, person
from app.web.plain import first_line, plain
from app.workspace.rows import MessageRow

LONGEST_LINE = 160
"""Characters of a job that are read at a glance; a longer one is opened."""


def dispatch_view(row: MessageRow, frame: Mapping[str, Any], agents: FindAgent) -> DispatchView:
    how, keeps = str(row.data.get("how")), bool(row.data.get("keeps"))
    is_held = keeps and not row.data.get("settled")
    text = plain(row.text).strip()
    line = first_line(text, LONGEST_LINE)
    return DispatchView(
        kind="dispatch",
        how="answer" if how == "handoff" and not keeps else how,
        to=person(str(row.data.get("to") or ""), agents),
        beside=bool(row.data.get("beside")),
        job=line,
        whole=text if line != text else "",
        step=int(row.data.get("step") or 0),
        task=task_address(row),
        take_back=f"/conversations/{row.conversation}/floor" if is_held else "",
        **frame,
    )


def task_address(row: MessageRow) -> str:
    """Of the task that an article tells of, or nothing."""
    task = row.data.get("task")
    return f"/conversations/{row.conversation}/tasks/{quote(str(task), safe='')}" if task else ""
