"""``bash``: a command in the workspace, waited for or left to run in the background."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.command_result import in_background, in_words
from app.hands.errors import Refused
from app.hands.executor import Executor
from app.hands.jobs import Jobs
from app.hands.limits import COMMAND_SECONDS, COMMAND_SECONDS_IN_ALL, COMMAND_SECONDS_MOST
from app.hands.permissions.permit import Permits
from app.hands.results import StoredResults
from app.hands.spool import Spool
from app.hands.terminal_text import Redact
from app.hands.tool import Arguments, HandTool, schema

_ROOM = 200
"""Tokens for what is said of a command beside its output."""


@dataclass(frozen=True, slots=True)
class Shell:
    """The commands of one run."""

    executor: Executor
    results: StoredResults
    jobs: Jobs
    conversation: str
    redact: Redact
    permits: Permits
    """What each call was allowed beyond what the confinement leaves to all of them."""

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolOutput:
        """The work of ``bash``."""
        command = arguments["command"]
        if not command.strip():
            raise Refused("E_BAD_INPUT", "The command is empty. Write what the shell should run.")
        permit = self.permits.find(context.call_id)
        if arguments.get("run_in_background", False):
            job = await self.jobs.start(command, self.executor, self.conversation, permit)
            return ToolOutput(in_background(job.id, self.executor.folder))
        seconds = arguments.get("timeout_ms", COMMAND_SECONDS * 1000) / 1000
        spool = Spool(self.results, self.redact)
        ended = await self.executor.run(
            command,
            lambda piece: context.progress(spool.add(piece) or None, spool.taken, None),
            permit,
            seconds=seconds,
        )
        context.progress(spool.last() or None, spool.taken, None)
        shown = spool.end(context.most_tokens - _ROOM)
        said = in_words(ended, self.executor.folder)
        if ended.how == "timeout":
            return _timed_out(seconds, said, shown)
        return replace(shown, text=f"{said}\n{shown.text}" if shown.text else f"{said}\n(no output)")


def shell_tool(shell: Shell) -> Tool:
    """``bash`` for the model."""
    return HandTool(
        "bash",
        "Run a command in bash, in the workspace. Each call starts there anew, with no input and no terminal; "
        "temporary files belong in $TMPDIR. What the command leaves running is ended with it: start a server or a "
        "watcher with run_in_background, then read its output with job_read. A command is ended after timeout_ms "
        f"without new output (default {COMMAND_SECONDS * 1000:,.0f}).",
        schema(
            {"command": {"type": "string", "minLength": 1}},
            {
                "timeout_ms": {"type": "integer", "minimum": 1, "maximum": int(COMMAND_SECONDS_MOST * 1000)},
                "run_in_background": {"type": "boolean"},
            },
        ),
        False,
        shell.run,
    )


def _timed_out(seconds: float, said: str, shown: ToolOutput) -> ToolOutput:
    text = (
        f"E_TIMEOUT: The command was ended: nothing new came from it for {seconds:g} s, or it ran for "
        f"{COMMAND_SECONDS_IN_ALL / 3600:g} hours. Give it a longer timeout_ms, or run it in the background.\n{said}\n"
        f"{shown.text}"
    )
    return replace(shown, text=text, error="E_TIMEOUT", transient=True)
