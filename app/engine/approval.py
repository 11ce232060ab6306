"""The seam to whoever decides whether a call may run: rules, and the user where they do not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from app.engine.events import Approval
from app.engine.messages import ToolCall
from app.engine.tools import Tool, ToolOutput

AskFn = Callable[[Approval], None]
"""Tells whoever follows the run that it waits for the user."""


class Gate(Protocol):
    """Stands before every call of a tool."""

    async def admit(self, call: ToolCall, tool: Tool, ask: AskFn) -> ToolOutput | None:
        """None where the call may run, else the output that refuses it.

        Waits for the user for as long as it takes, having told ``ask`` so. Cancellation means that nobody waits
        for the call any more.
        """
        ...


class OpenGate:
    """Lets everything pass: for tools that can do no harm, and for whoever puts a gate of his own around them."""

    async def admit(self, call: ToolCall, tool: Tool, ask: AskFn) -> ToolOutput | None:
        return None
