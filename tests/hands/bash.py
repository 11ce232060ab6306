"""``bash`` and its companions as a conversation holds them, unconfined, each call with a variable of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.job_tools import job_tools
from app.hands.jobs import Jobs
from app.hands.permissions.confinement import Unconfined
from app.hands.permissions.permit import Permit, Permits
from app.hands.results import StoredResults, result_tools
from app.hands.shell import Shell, shell_tool
from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.redaction import Redactor
from tests.hands.confined import Commands
from tests.hands.places import Machine

KEY = "sk-planted-0123456789abcdef"
CALL = "call_1"


@dataclass(slots=True)
class Bash:
    """The tools of a conversation, and what was seen of their calls."""

    tools: dict[str, Tool]
    jobs: Jobs
    workspace: Path
    live: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, tmp_path: Path) -> Bash:
        machine = Machine.made_in(tmp_path)
        executor = Commands.on(machine, Unconfined()).executor
        redact = Redactor([KEY]).redact
        results = StoredResults(tmp_path / "results", new_id)
        jobs = Jobs(tmp_path / "jobs", SystemClock(), new_id, redact)
        bash = cls(result_tools(results) | job_tools(jobs, "conv_1"), jobs, machine.workspace)
        permits = Permits()
        permits.allow(CALL, Permit(variables={"GIVEN": "for this call"}))
        bash.tools["bash"] = shell_tool(Shell(executor, results, jobs, "conv_1", redact, permits))
        return bash

    async def call(self, name: str, /, **arguments: Any) -> ToolOutput:
        tool = self.tools[name]
        jsonschema.validate(arguments, tool.parameters)
        return await tool.execute(arguments, ToolContext(CALL, self._progress))

    async def run(self, command: str, **arguments: Any) -> ToolOutput:
        return await self.call("bash", command=command, **arguments)

    def _progress(self, text: str | None, done: int | None, total: int | None) -> None:
        self.live.append(text or "")
