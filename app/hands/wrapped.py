"""Tools around a tool: the same to a model, with something done before or after its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.permissions.permit import NOTHING_MORE, Permit, Permits
from app.hands.terminal_text import Redact


class WrappedTool:
    """Passes everything on; what is to be different is written over."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def description(self) -> str:
        return self.tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.tool.parameters

    @property
    def read_only(self) -> bool:
        return self.tool.read_only

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        return await self.tool.execute(arguments, context)


class PermittedTool(WrappedTool):
    """Runs each call with what it was allowed: ``make`` gives the tool for one that may do more than all others."""

    def __init__(self, tool: Tool, permits: Permits, make: Callable[[Permit], Tool]) -> None:
        super().__init__(tool)
        self._permits = permits
        self._make = make

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        permit = self._permits.find(context.call_id)
        tool = self.tool if permit == NOTHING_MORE else self._make(permit)
        return await tool.execute(arguments, context)


class MaskedTool(WrappedTool):
    """Masks keys in a result, before it is stored, shown or sent."""

    def __init__(self, tool: Tool, redact: Redact) -> None:
        super().__init__(tool)
        self._redact = redact

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        output = await self.tool.execute(arguments, context)
        return replace(output, text=self._redact(output.text))
