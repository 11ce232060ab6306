"""``job_read``, ``job_write``, ``job_stop``: a conversation's background jobs in the hands of its members."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.tools import Tool, ToolContext
from app.hands.command_result import how_it_ended
from app.hands.errors import Refused
from app.hands.jobs import Job, Jobs
from app.hands.tool import Arguments, HandTool, schema

_BYTES_A_TOKEN = 2
"""At the least, in any script: what is read has to fit into a result."""

_ID = {"type": "string", "description": "The job, job_…, that bash gave."}


@dataclass(frozen=True, slots=True)
class JobHands:
    """What members of one conversation may do with its jobs, and with no others."""

    jobs: Jobs
    conversation: str

    async def read(self, arguments: Arguments, context: ToolContext) -> str:
        """The work of ``job_read``."""
        job = self._load(arguments["job_id"])
        shown = self.jobs.read(
            job.id, arguments.get("cursor"), int(context.most_tokens * _BYTES_A_TOKEN * 0.8)
        )
        where = f"bytes {shown.start:,}-{shown.end:,}"
        more = "" if shown.is_all else f" There is more: go on with cursor {shown.end}."
        after = (
            f" New output will begin at cursor {shown.end}."
            if shown.is_all and job.state == "running"
            else ""
        )
        return f"[{job.id} {state_of(job)}; {where}.{more}{after}]\n{shown.text.plain or '(no output)'}"

    async def write(self, arguments: Arguments, context: ToolContext) -> str:
        """The work of ``job_write``."""
        job = self._load(arguments["job_id"])
        self.jobs.write(job.id, arguments["text"])
        return f"[Typed into {job.id}. job_read shows what it answers.]"

    async def stop(self, arguments: Arguments, context: ToolContext) -> str:
        """The work of ``job_stop``."""
        job = await self.jobs.stop(self._load(arguments["job_id"]).id)
        return f"[{job.id} {state_of(job)}.]"

    def _load(self, id: str) -> Job:
        """Jobs of other conversations are not told from those that never were."""
        job = self.jobs.load(id)
        if job.conversation != self.conversation:
            raise Refused(
                "E_NOT_FOUND", f"There is no job {id!r}. Use a job_… that bash gave, or start it again."
            )
        return job


def job_tools(jobs: Jobs, conversation: str) -> dict[str, Tool]:
    """The three tools for the jobs of one conversation."""
    hands = JobHands(jobs, conversation)
    tools = (
        HandTool(
            "job_read",
            "Show what a background job has written: from cursor on, or its last lines. The first line says whether it "
            "runs and which cursor comes next.",
            schema({"job_id": _ID}, {"cursor": {"type": "integer", "minimum": 0}}),
            True,
            hands.read,
        ),
        HandTool(
            "job_write",
            "Type text into a background job, as at a keyboard: end a line with \\n; \\u0003 is Ctrl-C, \\u0004 "
            "ends the input.",
            schema({"job_id": _ID, "text": {"type": "string", "minLength": 1}}),
            False,
            hands.write,
        ),
        HandTool(
            "job_stop",
            "End a background job and all that it started.",
            schema({"job_id": _ID}),
            False,
            hands.stop,
        ),
    )
    return {tool.name: tool for tool in tools}


def state_of(job: Job) -> str:
    """``runs``, or how it ended."""
    if job.ended is not None:
        return f"has ended: {how_it_ended(job.ended)}"
    return "runs" if job.state == "running" else "runs no more, and nobody saw how it ended"
