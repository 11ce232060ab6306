"""Background jobs: commands that outlive their turn. All that is known of them lies in the data folder.

jobs/ID/job.json        what was started, where, by which conversation, and whether the user keeps it
        process.json    its supervisor, from the moment it runs
        end.json        how it ended, written by the supervisor
        output.N        what it wrote, from byte N on
        input           a pipe: what is written there is typed into the job
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGTERM
from typing import Any, Literal

import anyio

from app.hands import job_log
from app.hands.children import child, of_ours, output_of
from app.hands.errors import Refused
from app.hands.executor import Ended, Executor
from app.hands.limits import JOB_GRACE, JOB_INPUT, JOBS_AT_ONCE, JOBS_KEPT
from app.hands.permissions.confinement import cannot_confine
from app.hands.permissions.permit import Permit
from app.hands.terminal_text import Redact, Text, clean
from app.infra.clock import Clock, iso
from app.infra.files import write_atomic
from app.infra.ids import NewId, made_at
from app.infra.processes import Process

State = Literal["running", "ended", "lost"]
"""``lost``: it runs no more, and nobody saw how it ended, as after a power cut."""

_LINE_BEFORE = 4_096
"""Bytes looked back for the beginning of a line: half a line could hide half a key."""
_BETWEEN_LOOKS = 0.02
_STOP_SECONDS = JOB_GRACE + 7.0
"""For a supervisor to end what it holds; one that takes longer is stuck."""

_KEPT = ("id", "conversation", "command", "folder", "started", "is_kept")
_SEEN = ("pid", "started")
_SAID = ("how", "code", "signal", "seconds", "left")


@dataclass(frozen=True, slots=True)
class Job:
    """One job, as it stands now."""

    id: str
    conversation: str
    command: str
    folder: str
    started: str
    """UTC, as pages write it."""
    is_kept: bool = False
    """It goes on when the app ends."""
    state: State = "running"
    pid: int | None = None
    """Of its supervisor."""
    ended: Ended | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a job's output."""

    text: Text
    start: int
    """The byte it begins at, which is later than was asked for where the older output is gone."""
    end: int
    """Where to read on."""
    is_all: bool
    """There is no more by now."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of one data folder, for tools, pages and the end of the app. Nothing of them is held in memory."""

    folder: Path
    clock: Clock
    new_id: NewId
    redact: Redact

    async def start(
        self, command: str, executor: Executor, conversation: str, permit: Permit | None = None
    ) -> Job:
        """Return when it runs. Raises ``Refused`` where it does not."""
        order = executor.order(command, permit)
        self._make_room(conversation)
        job = Job(self.new_id("job"), conversation, command, str(executor.folder), iso(self.clock.now()))
        place = self._place(job.id)
        place.mkdir(mode=0o700, parents=True)
        try:
            self._write_down(job)
            told = await _told({**order, "job": str(place), "grace": JOB_GRACE})
        except OSError as error:
            told = {"why": str(error)}
        if "why" in told:
            shutil.rmtree(place, ignore_errors=True)
            if told.get("unconfined"):
                raise cannot_confine(executor.confinement.badge.level, told["why"])
            raise Refused(
                "E_FAILED", f"The job could not be started: {told['why']}. Check it, then try again."
            )
        return self.load(job.id)

    def list_all(self, conversation: str | None = None) -> list[Job]:
        """Newest first."""
        return [job for job in self._all() if conversation in (None, job.conversation)]

    def count_running(self) -> int:
        """As cheaply as it can be known."""
        open_ends = (path.name for path in self.folder.glob("job_*") if not (path / "end.json").exists())
        return sum(job is not None and job.state == "running" for job in map(self._find, open_ends))

    def load(self, id: str) -> Job:
        """Raises ``Refused`` for an id that names no job."""
        job = self._find(id)
        if job is None:
            raise Refused(
                "E_NOT_FOUND", f"There is no job {id[:80]!r}. Use a job_… that bash gave, or start it again."
            )
        return job

    def read(self, id: str, start: int | None = None, most: int = 16_384) -> Stretch:
        """At most about ``most`` bytes from byte ``start`` on, or the last of them. Whole lines where lines end.

        Raises ``Refused``.
        """
        place = self._place(self.load(id).id)
        first, end = job_log.stretch(place)
        start = min(max(first, end - most if start is None else start), end)
        before = max(first, start - _LINE_BEFORE)
        data = job_log.read(place, before, min(end, start + most))
        begin = data.rfind(b"\n", 0, start - before) + 1
        stop = len(data)
        if before + stop < end:
            stop = data.rfind(b"\n", start - before) + 1 or stop
        text = clean(data[begin:stop].decode(errors="replace"), self.redact)
        return Stretch(text, before + begin, before + stop, before + stop == end)

    def write(self, id: str, text: str) -> None:
        """Type ``text`` into it. Raises ``Refused`` where it does not take it."""
        job = self._running(id)
        if len(text) > JOB_INPUT:
            raise Refused("E_TOO_LARGE", f"A job takes {JOB_INPUT:,} characters at once. Send it in pieces.")
        try:
            pipe = os.open(self._place(job.id) / "input", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                written = os.write(pipe, text.encode(errors="replace"))
            finally:
                os.close(pipe)
        except OSError as error:
            raise Refused(
                "E_FAILED", f"{id} takes no input now ({error.strerror}). Read what it does first."
            ) from error
        if written < len(text.encode(errors="replace")):
            raise Refused(
                "E_FAILED", f"{id} took {written:,} bytes of it and no more. Read what it does first."
            )

    async def stop(self, id: str) -> Job:
        """Asked to end, then forced; return when it has. Raises ``Refused`` for one that does not run."""
        await self._end(self._running(id))
        return self.load(id)

    def keep(self, id: str, is_kept: bool = True) -> Job:
        """Whether it goes on when the app ends. Raises ``Refused``."""
        self._write_down(replace(self.load(id), is_kept=is_kept))
        return self.load(id)

    async def close(self) -> None:
        """The app ends: so do all jobs but those that the user keeps."""
        async with anyio.create_task_group() as tasks:
            for job in self._all():
                if job.state == "running" and not job.is_kept:
                    tasks.start_soon(self._end, job)

    async def forget(self, conversation: str) -> None:
        """End all jobs of a conversation, and remove what they wrote."""
        for job in self.list_all(conversation):
            await self._end(job)
            shutil.rmtree(self._place(job.id), ignore_errors=True)

    async def _end(self, job: Job) -> None:
        process = self._process(job.id)
        if process is None:
            return
        process.send(SIGTERM)
        with anyio.move_on_after(_STOP_SECONDS):
            while process.is_running:  # noqa: ASYNC110 - it is no child of ours, so nobody tells
                await anyio.sleep(_BETWEEN_LOOKS)

    def _running(self, id: str) -> Job:
        job = self.load(id)
        if job.state != "running":
            raise Refused("E_NOT_FOUND", f"{id} does not run any more. Read its output, or start it again.")
        return job

    def _make_room(self, conversation: str) -> None:
        jobs = self._all()
        running = [job.id for job in jobs if job.state == "running" and job.conversation == conversation]
        if len(running) >= JOBS_AT_ONCE:
            raise Refused(
                "E_TOO_MANY",
                f"{len(running)} jobs run already: {', '.join(running)}. Stop one with job_stop first.",
            )
        for old in [job for job in jobs if job.state != "running"][JOBS_KEPT - 1 :]:
            shutil.rmtree(self._place(old.id), ignore_errors=True)

    def _all(self) -> list[Job]:
        names = sorted((path.name for path in self.folder.glob("job_*")), reverse=True)
        return [job for name in names if (job := self._find(name)) is not None]

    def _find(self, id: str) -> Job | None:
        facts = self._facts(id, "job", _KEPT) if made_at(id) else None
        if facts is None:
            return None
        job = Job(**facts)
        end, process = self._facts(id, "end", _SAID), self._process(id)
        if end is not None:
            return replace(job, state="ended", ended=Ended(**end))
        if process is None or not process.is_running:
            return replace(job, state="lost")
        return replace(job, pid=process.pid)

    def _process(self, id: str) -> Process | None:
        facts = self._facts(id, "process", _SEEN)
        return Process(**facts) if facts is not None else None

    def _facts(self, id: str, file: str, names: tuple[str, ...]) -> dict[str, Any] | None:
        """None where they are not there, or cannot be read."""
        try:
            facts = json.loads((self._place(id) / f"{file}.json").read_bytes())
            return {name: facts[name] for name in names}
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def _write_down(self, job: Job) -> None:
        facts = {name: getattr(job, name) for name in _KEPT}
        write_atomic(self._place(job.id) / "job.json", json.dumps(facts).encode())

    def _place(self, id: str) -> Path:
        return self.folder / id


async def _told(order: dict[str, Any]) -> dict[str, Any]:
    """What the supervisor answers. Not cut off half-way: a job that runs is known."""
    command = of_ours("app.hands.job_child")
    with anyio.CancelScope(shield=True):
        async with child(command, folder=Path("/"), told=json.dumps(order).encode()) as starter:
            answer = b"".join([piece async for piece in output_of(starter)])
    try:
        told: dict[str, Any] = json.loads(answer)
    except ValueError:
        return {"why": "its supervisor did not start"}
    return told
