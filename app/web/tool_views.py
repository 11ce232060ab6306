"""From the row of a tool call to what its template receives; of a command more is known than of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from app.hands.command_result import Told, find_told
from app.hands.limits import COMMAND_BYTES
from app.hands.pictures import name_of
from app.web.entries import Screen, ToolView
from app.web.plain import one_line, plain, plain_output
from app.web.terminal import Terminal
from app.web.tool_words import Shown, cut, output_of, target_of, trouble_of, words_for
from app.workspace.rows import MessageRow

_JOB = re.compile(r"job_\w{1,64}", re.ASCII)
_COMMAND_LINES = 2_000


def tool_view(row: MessageRow, frame: Mapping[str, Any], live: Terminal | None = None) -> ToolView:
    """``live`` is what a tool that runs has said by now."""
    name, arguments = str(row.data.get("name", "")), row.data.get("arguments") or {}
    result = str(row.data.get("result") or "")
    told = find_told(result) if name == "bash" else None
    screen = _screen(row, live, told)
    words, milliseconds = words_for(name), row.data.get("duration_ms")
    return ToolView(
        kind="tool_call",
        icon=words.icon,
        verb=words.verb,
        target=target_of(name, arguments),
        stat=_stat(row, told),
        is_bad=row.state == "failed" or _went_wrong(told),
        seconds=milliseconds / 1000 if isinstance(milliseconds, int | float) else None,
        arguments=tuple(_facts(name, arguments, told)),
        said=_said(told),
        screen=screen,
        output=output_of(told.output if told else result),
        whole=_whole(row) if told and screen and screen.note else "",
        job=_job(told, arguments) if name in _OF_JOBS else "",
        pictures=tuple(_pictures(row)),
        **frame,
    )


_OF_JOBS = {"bash", "job_read", "job_write", "job_stop"}


def _screen(row: MessageRow, live: Terminal | None, told: Told | None) -> Screen | None:
    """The colours of a command are in its progress alone: the result, which the model reads, has none."""
    said = str(row.data.get("progress") or "")
    if row.state == "streaming":
        live = live or Terminal(said)
        return Screen(live.closed, live.open, _left_out(live.left_out))
    if not said or (row.data.get("result") and told is None):
        return None
    end = Terminal(said)
    end.trim()
    is_cut = end.left_out or (told and len(plain_output(said).strip()) < len(told.output.strip()))
    return Screen(end.closed, end.open, f"last {_lines(end.count)} shown" if is_cut else "")


def _left_out(count: int) -> str:
    return f"{count:,} earlier {'line is' if count == 1 else 'lines are'} not shown" if count else ""


def _lines(count: int) -> str:
    return f"{count:,} {'line' if count == 1 else 'lines'}"


def _stat(row: MessageRow, told: Told | None) -> str:
    match row.state:
        case "streaming":
            return "waits for you" if row.data.get("asks") else "running"
        case "interrupted":
            return "cut off"
        case "failed":
            return trouble_of(row.data.get("error_code"))
        case "done" if told and told.job:
            return "as a job"
        case "done" if told and _went_wrong(told):
            return f"exit {told.code}" if told.code is not None else told.how[:1].lower() + told.how[1:]
        case "done":
            return ""
        case _:
            assert_never(row.state)


def _went_wrong(told: Told | None) -> bool:
    return told is not None and not told.job and told.code != 0


def _said(told: Told | None) -> str:
    return plain(" ".join(filter(None, (told.trouble.partition(": ")[2], told.left)))) if told else ""


def _facts(name: str, arguments: Mapping[str, Any], told: Told | None) -> Iterator[tuple[str, Shown]]:
    for key, value in arguments.items():
        if told and key == "run_in_background":
            continue  # how it stands says it
        text = value if isinstance(value, str) else repr(value)
        whole = (name, key) == ("bash", "command")
        yield one_line(str(key)), cut(text, _COMMAND_LINES, COMMAND_BYTES) if whole else cut(text)
    if told:
        yield "folder", Shown(one_line(told.folder), "")


def _job(told: Told | None, arguments: Mapping[str, Any]) -> str:
    id = told.job if told else str(arguments.get("job_id", ""))
    return f"/jobs/{id}" if _JOB.fullmatch(id) else ""


def _whole(row: MessageRow) -> str:
    return f"/conversations/{row.conversation}/texts/{row.id}"


def _pictures(row: MessageRow) -> Iterator[str]:
    for ref in row.data.get("pictures") or ():
        if name := name_of(str(ref), row.conversation):
            yield f"/conversations/{row.conversation}/pictures/{name}"
