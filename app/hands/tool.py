"""What all hands have in common: a description for the model, and work that answers with text or refuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from app.engine.tools import ToolContext, ToolOutput
from app.hands.errors import Refused
from app.hands.threads import CheckStop, in_thread

T = TypeVar("T")

Arguments = Mapping[str, Any]
"""As the model gave them, checked against the schema before."""


@dataclass(frozen=True, slots=True)
class HandTool:
    """A tool of the engine whose work is one function."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    read_only: bool
    work: Callable[[Arguments, ToolContext], Awaitable[str | ToolOutput]]

    async def execute(self, arguments: Arguments, context: ToolContext) -> ToolOutput:
        try:
            done = await self.work(arguments, context)
        except Refused as refused:
            return ToolOutput.failed(refused.code, refused.sentence, transient=refused.transient)
        return ToolOutput(done) if isinstance(done, str) else done


def threaded(work: Callable[[Arguments, CheckStop], T]) -> Callable[[Arguments, ToolContext], Awaitable[T]]:
    """Blocking work as the work of a tool."""

    async def run(arguments: Arguments, context: ToolContext) -> T:
        return await in_thread(lambda check_stop: work(arguments, check_stop))

    return run


def schema(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A JSON schema of type object that takes these arguments and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


PATH = {"type": "string", "description": "Path of the file, from the workspace (docs/plan.md) or absolute."}
