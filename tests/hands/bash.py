"""``bash`` and its companions as a conversation holds them, unconfined, with a user who allows all but one command."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.errors import Refused
from app.hands.executor import Permit
from app.hands.job_tools import job_tools
from app.hands.jobs import Jobs
from app.hands.permissions.confinement import Unconfined
from app.hands.results import StoredResults, result_tools
from app.hands.shell import Shell, shell_tool
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.redaction import Redactor
from tests.hands.confined import Commands
from tests.hands.places import Machine

KEY = "sk-planted-0123456789abcdef"


@dataclass(slots=True)
class Bash:
    """The tools of a conversation, and what was seen of their calls."""

    tools: dict[str, Tool]
    jobs: Jobs
    workspace: Path
    live: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, tmp_path: Path) -> Bash:
        machine = Machine.made_in(tmp_path)
        executor = Commands.on(machine, Unconfined()).executor
        redact = Redactor([KEY]).redact
        results = StoredResults(tmp_path / "results", new_id)
        jobs = Jobs(tmp_path / "jobs", SystemClock(), new_id, redact)
        bash = cls(result_tools(results) | job_tools(jobs, "conv_1"), jobs, machine.workspace)
        bash.tools["bash"] = shell_tool(Shell(executor, results, jobs, "conv_1", redact, bash.ask))
        return bash

    async def call(self, name: str, /, **arguments: Any) -> ToolOutput:
        tool = self.tools[name]
        jsonschema.validate(arguments, tool.parameters)
        return await tool.execute(arguments, ToolContext("call_1", self._progress))

    async def run(self, command: str, **arguments: Any) -> ToolOutput:
        return await self.call("bash", command=command, **arguments)

    async def ask(self, command: str, context: ToolContext) -> Permit:
        """The answer to every question but one."""
        self.asked.append(command)
        if command == "forbidden":
            raise Refused("E_DENIED", "The user said no. Do something else.")
        return Permit(variables={"GIVEN": "for this call"})

    def _progress(self, text: str | None, done: int | None, total: int | None) -> None:
        self.live.append(text or "")
