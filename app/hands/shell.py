"""``bash``: a command in the workspace, waited for or left to run in the background."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.errors import Refused
from app.hands.executor import Ended, Executor, Permit
from app.hands.jobs import Jobs
from app.hands.limits import COMMAND_SECONDS, COMMAND_SECONDS_IN_ALL, COMMAND_SECONDS_MOST
from app.hands.results import StoredResults
from app.hands.spool import Spool
from app.hands.terminal_text import Redact
from app.hands.tool import Arguments, HandTool, schema

_ROOM = 200
"""Tokens for what is said of a command beside its output."""

Ask = Callable[[str, ToolContext], Awaitable[Permit]]
"""What may be done for a command that a model wants to run. Raises ``Refused`` where it may not."""


async def as_every_command(command: str, context: ToolContext) -> Permit:
    """Nothing beyond what the confinement leaves to all of them."""
    return Permit()


@dataclass(frozen=True, slots=True)
class Shell:
    """The commands of one run."""

    executor: Executor
    results: StoredResults
    jobs: Jobs
    conversation: str
    redact: Redact
    ask: Ask = as_every_command

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolOutput:
        """The work of ``bash``."""
        command = arguments["command"]
        if not command.strip():
            raise Refused("E_BAD_INPUT", "The command is empty. Write what the shell should run.")
        permit = await self.ask(command, context)
        if arguments.get("run_in_background", False):
            job = await self.jobs.start(command, self.executor, self.conversation, permit)
            return ToolOutput(
                f"[{job.id} runs in the background, in {self.executor.folder}. job_read shows what it writes, "
                "job_write sends it input, job_stop ends it.]"
            )
        seconds = arguments.get("timeout_ms", COMMAND_SECONDS * 1000) / 1000
        spool = Spool(self.results, self.redact)
        ended = await self.executor.run(
            command,
            lambda piece: context.progress(spool.add(piece) or None, spool.taken, None),
            permit,
            seconds=seconds,
        )
        shown = spool.end(context.most_tokens - _ROOM)
        said = f"[{how_it_ended(ended)}, in {self.executor.folder}.{_left_running(ended)}]"
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


def how_it_ended(ended: Ended) -> str:
    """``Exit code 0 after 1.2 s``, or what ended it."""
    after = f"after {ended.seconds:.1f} s"
    if ended.how != "exit":
        return f"Ended {after}"
    if ended.signal is not None:
        return f"Killed by {_name_of(ended.signal)} {after}"
    return f"Exit code {ended.code} {after}"


def _timed_out(seconds: float, said: str, shown: ToolOutput) -> ToolOutput:
    text = (
        f"E_TIMEOUT: The command was ended: nothing new came from it for {seconds:g} s, or it ran for "
        f"{COMMAND_SECONDS_IN_ALL / 3600:g} hours. Give it a longer timeout_ms, or run it in the background.\n{said}\n"
        f"{shown.text}"
    )
    return replace(shown, text=text, error="E_TIMEOUT", transient=True)


def _left_running(ended: Ended) -> str:
    if not ended.left:
        return ""
    programs = "A program" if ended.left == 1 else f"{ended.left} programs"
    return f" {programs} it had left running {'was' if ended.left == 1 else 'were'} ended."


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
