"""From the row of a message to what its template receives: pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, assert_never
from urllib.parse import quote

from markupsafe import Markup

from app.group_chat.roles import COMMANDER
from app.web.approval_words import approval_view
from app.web.attachment_views import attachment_views
from app.web.dispatch_words import dispatch_view, task_address
from app.web.entries import (
    DRAWN_KINDS,
    AssistantView,
    DrawnKind,
    ErrorView,
    MessageView,
    NoticeView,
    Remedy,
    UserView,
)
from app.web.form_words import form_view
from app.web.live_markdown import LiveMarkdown
from app.web.long_texts import Rest, beginning, rest_of, shortened
from app.web.markdown import render_markdown
from app.web.member_words import FindAgent, member_hue, member_label, nobody, person
from app.web.notices import notice_words, of_a_task
from app.web.others import others_of
from app.web.plain import first_line, first_sentence, one_line, plain
from app.web.plan_words import plan_entry
from app.web.terminal import Terminal
from app.web.times import local
from app.web.tool_views import tool_view
from app.workspace.attached import attachments_of
from app.workspace.rows import MessageKind, MessageRow


def message_view(
    row: MessageRow,
    live: LiveMarkdown | None = None,
    thought: str | None = None,
    screen: Terminal | None = None,
    agents: FindAgent = nobody,
) -> MessageView:
    """The view of one row. While it is being written, ``live``, ``thought`` and ``screen`` are what was said by now;
    ``agents`` knows what members are called.

    Raises ``LookupError`` for a kind that no template draws.
    """
    kind = _drawn(row.kind)
    ours = kind in ("notice", "error")
    frame = {
        "id": row.id,
        "member": row.member,
        "label": "Plancia" if ours else member_label(row.member, agents),
        "hue": "" if ours else member_hue(row.member, agents),
        "state": row.state,
        "time": local(row.created),
    }
    match kind:
        case "user":
            return _user(row, frame, agents)
        case "assistant":
            return _assistant(row, frame, live, thought)
        case "tool_call":
            return tool_view(row, frame, screen)
        case "notice":
            return _notice(row, frame, agents)
        case "error":
            return _error(row, frame, agents)
        case "approval":
            return approval_view(row, frame, agents)
        case "form":
            return form_view(row, frame)
        case "dispatch":
            return dispatch_view(row, frame, agents)
        case "plan":
            return plan_entry(row, frame)
        case _:
            assert_never(kind)


def message_views(
    rows: Iterable[MessageRow], live: Mapping[str, LiveMarkdown] = {}
) -> tuple[MessageView, ...]:
    """Views of the rows that have a template, in order; ``live`` holds the texts that stream, by message id."""
    return tuple(message_view(row, live.get(row.id)) for row in rows if row.kind in DRAWN_KINDS)


def _drawn(kind: MessageKind) -> DrawnKind:
    for drawn in DRAWN_KINDS:
        if drawn == kind:
            return drawn
    raise LookupError(f"no template draws a message of kind {kind!r}")


def _user(row: MessageRow, frame: Mapping[str, Any], agents: FindAgent) -> UserView:
    to = [str(member) for member in row.data.get("to") or ()]
    return UserView(
        kind="user",
        text=plain(beginning(row.text)),
        rest=rest_of(row.text, _whole(row)),
        sent=row.data.get("sent"),
        to=tuple(person(member, agents) for member in to) if to != [COMMANDER] else (),
        unknown=tuple(one_line(str(name)) for name in row.data.get("unknown") or ()),
        absent=tuple(person(str(member), agents) for member in row.data.get("absent") or ()),
        files=attachment_views(row.conversation, attachments_of(row.data)),
        **frame,
    )


def _assistant(
    row: MessageRow, frame: Mapping[str, Any], live: LiveMarkdown | None, thought: str | None
) -> AssistantView:
    streams = row.state == "streaming"
    if streams and live is None:
        live = LiveMarkdown()
        live.feed(row.text)
    milliseconds = None if streams else row.data.get("thought_ms")
    growing = Rest("", "", _whole(row)) if live and live.is_full else None
    return AssistantView(
        kind="assistant",
        html=Markup("").join(live.closed) if streams and live else render_markdown(beginning(row.text)),
        tail=live.tail if streams and live else None,
        rest=growing if streams else rest_of(row.text, _whole(row)),
        thought=shortened(row.data.get("reasoning") or "" if thought is None else thought),
        thought_seconds=milliseconds / 1000 if isinstance(milliseconds, int | float) else None,
        **frame,
    )


def _notice(row: MessageRow, frame: Mapping[str, Any], agents: FindAgent) -> NoticeView:
    words = notice_words(row.data, row.text)
    if row.data.get("task"):
        words = of_a_task(words, member_label(row.member, agents))
    if jobs := row.data.get("jobs"):
        left = ", ".join(f"{member_label(str(to), agents)} ({first_line(str(job), 60)})" for to, job in jobs)
        words = replace(words, more=f"{words.more} Continue takes up what was cut off with it: {left}.")
    waits = words.needs_user and not row.data.get("settled")
    return NoticeView(
        kind="notice",
        words=words,
        waits=waits,
        resume=_resume(row),
        organised=organised_address(row),
        until=_until(row),
        hurry=f"/conversations/{row.conversation}/hurry",
        deed=_deed_address(row),
        **frame,
    )


def _deed_address(row: MessageRow) -> str:
    deed = row.data.get("deed") if row.data.get("notice") == "restored" else None
    return f"/conversations/{row.conversation}/changes/{quote(str(deed), safe='')}" if deed else ""


def organised_address(row: MessageRow) -> str:
    """Where one reads what a compaction left out; nothing for any other message."""
    if row.kind != "notice" or row.data.get("notice") != "compaction" or not row.data.get("summary"):
        return ""
    return f"/conversations/{row.conversation}/organised/{row.id}"


def _error(row: MessageRow, frame: Mapping[str, Any], agents: FindAgent) -> ErrorView:
    title, more = first_sentence(plain(row.text))
    settled = bool(row.data.get("settled"))
    if row.data.get("task"):
        title = f"{member_label(row.member, agents)}: {title}"
    return ErrorView(
        kind="error",
        title=title,
        more=more,
        detail=plain(str(row.data.get("detail") or "")),
        reference=one_line(str(row.data.get("reference") or "")),
        model=one_line(str(row.data.get("model") or "")),
        remedy=None if settled else _remedy(row),
        another_model=not settled and row.data.get("kind") not in _OURS,
        others=others_of(row.data),
        can_retry=not settled,
        resume=_resume(row),
        **frame,
    )


def _until(row: MessageRow) -> datetime | None:
    """Of a wait that lasts."""
    until = row.data.get("until")
    return local(until) if row.state == "streaming" and isinstance(until, str) else None


def _remedy(row: MessageRow) -> Remedy | None:
    source = str(row.data.get("model") or "").partition("/")[0]
    match row.data.get("kind"):
        case "auth" | "subscription":
            verb = "Add" if _KEYLESS.search(row.text) else "Replace"
            return Remedy(
                f"{verb} key", f"/settings/models#of-{quote(source)}" if source else "/settings/models"
            )
        case "balance" | "unreachable" | "unknown_model" | "invalid" | "local":
            return Remedy("Models and keys", "/settings/models")
        case "budget":
            return Remedy("Change the budget", "/settings#budget")
        case _:
            return None


def _whole(row: MessageRow) -> str:
    return f"/conversations/{row.conversation}/texts/{row.id}"


def _resume(row: MessageRow) -> str:
    """Where a run is taken up: of a member that was sent, its job is begun anew."""
    task = task_address(row)
    return f"{task}/retry" if task else f"/conversations/{row.conversation}/resume"


_OURS = {"budget", "storage", "defect"}
"""Kinds of failures that no model is to blame for."""

_KEYLESS = re.compile(r"\bhas no key\b|\bnone is set\b|\bis gone\b")
