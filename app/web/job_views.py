"""What the pages of background jobs receive: a job as it stands, and the end of what it wrote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from app.hands.jobs import Job, Jobs
from app.web.page_views import UNTITLED
from app.web.plain import one_line, plain
from app.web.terminal import Terminal
from app.web.times import local
from app.workspace.conversations import find_conversation
from app.workspace.store import Store

LAST_LINES = 3
_LAST_BYTES = 2_000
_AT_ONCE = 65_536
"""Bytes of output that are read in one look; a page that is further behind goes to the end."""
_AT_FIRST = 24_576


@dataclass(frozen=True, slots=True)
class JobView:
    id: str
    command: str
    first_line: str
    folder: str
    conversation: str
    """Its title."""
    came_from: str
    """Address of the conversation; nothing where that was deleted."""
    mark: str
    """``live``, ``tick``, ``octagon``, ``bar`` or ``broken``."""
    tone: str
    """Class of its word: ``done``, ``failed`` or nothing."""
    word: str
    """``running``, ``exit 1``, ``stopped``, ``lost``."""
    runs: bool
    is_kept: bool
    since: datetime
    seconds: float | None
    """How long it ran; None while it runs, and where nobody saw its end."""
    last_lines: str = ""
    """Of one that runs, in a list."""

    @property
    def href(self) -> str:
        return f"/jobs/{self.id}"


def job_view(store: Store, job: Job, last_lines: str = "") -> JobView:
    row = find_conversation(store, job.conversation)
    is_there = row is not None and row.deleted_at is None
    first, _, rest = job.command.strip().partition("\n")
    mark, tone, word = _standing(job)
    return JobView(
        id=job.id,
        command=plain(job.command),
        first_line=one_line(first)[:300] + (" …" if rest else ""),
        folder=one_line(job.folder),
        conversation=(one_line(row.title) or UNTITLED) if row and is_there else "a deleted conversation",
        came_from=f"/conversations/{job.conversation}" if is_there else "",
        mark=mark,
        tone=tone,
        word=word,
        runs=job.state == "running",
        is_kept=job.is_kept,
        since=local(job.started),
        seconds=job.ended.seconds if job.ended else None,
        last_lines=last_lines,
    )


def listed(store: Store, jobs: Jobs) -> tuple[JobView, ...]:
    """All jobs, the newest first; those that run with the last lines that they wrote."""
    return tuple(
        job_view(store, job, last_lines(jobs, job) if job.state == "running" else "")
        for job in jobs.list_all()
    )


def last_lines(jobs: Jobs, job: Job) -> str:
    lines = jobs.read(job.id, most=_LAST_BYTES).text.plain.splitlines()
    return plain("\n".join(line[:300] for line in lines[-LAST_LINES:]))


def _standing(job: Job) -> tuple[str, str, str]:
    match job.state:
        case "running":
            return "live", "", "running"
        case "lost":
            return "broken", "", "lost: nobody saw how it ended"
        case "ended":
            assert job.ended is not None, "it says how"
        case _:
            assert_never(job.state)
    if job.ended.how != "exit":
        return "bar", "", "stopped"
    if job.ended.signal is not None:
        return "octagon", "failed", f"killed by signal {job.ended.signal}"
    return ("octagon", "failed", f"exit {job.ended.code}") if job.ended.code else ("tick", "done", "ended")


class JobScreen:
    """The end of what one job wrote, read on look by look."""

    def __init__(self, jobs: Jobs, id: str) -> None:
        self.terminal = Terminal()
        self._jobs = jobs
        self._id = id
        self._end: int | None = None

    def look(self) -> tuple[str, bool] | None:
        """What came since the last look: lines to add, or, where it is True, that all has to be drawn anew.

        None where nothing did. Raises ``Refused`` where there is no such job any more.
        """
        seen = self._end
        stretch = self._jobs.read(self._id, seen, _AT_FIRST if seen is None else _AT_ONCE)
        if stretch.end == seen:
            return None
        if seen is not None and (not stretch.is_all or stretch.start > seen):
            seen, stretch = None, self._jobs.read(self._id, None, _AT_FIRST)
        if seen is None:
            self.terminal = Terminal()
        elif stretch.start < seen:
            self.terminal.begin_line_anew()
        self._end = stretch.end
        lines = self.terminal.feed(stretch.text.coloured)
        return (lines or "", lines is None or seen is None)
