"""The seam to tools: built-in, from a skill or from a connector, the runner cannot tell.

A tool that fails returns ``ToolOutput`` with an error; it raises only for a defect of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from app.engine.messages import Image
from app.engine.provider import ToolDefinition

MOST_TOKENS = 12_500
"""Of one result. A larger one is stored, and shown in part."""

ProgressFn = Callable[[str | None, int | None, int | None], None]
"""``progress(text, done, total)``: shown live, never sent to the model."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of the run that calls it."""

    call_id: str
    progress: ProgressFn
    most_tokens: int = MOST_TOKENS
    """Of the result: what a tool brings beyond it is not shown at once."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call came to. The text of an error starts with its code and ends with the next valid step."""

    text: str
    images: tuple[Image, ...] = ()
    error: str | None = None
    """The code, ``E_STALE`` and its like; None for a success."""
    transient: bool = False
    """Of an error: the very same call may work later."""
    is_kept: bool = False
    """It shows what is stored already, and is not stored once more."""
    ends_run: bool = False
    """Nothing more is asked of the model: somebody else speaks next."""

    @classmethod
    def failed(cls, code: str, sentence: str, *, transient: bool = False) -> ToolOutput:
        return cls(f"{code}: {sentence}", error=code, transient=transient)


class Tool(Protocol):
    """One ability. Adjacent calls of read-only tools run side by side; every other tool is a barrier."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of type object with ``additionalProperties`` false."""
        ...

    @property
    def read_only(self) -> bool: ...

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """Run once with arguments that passed the schema. Cancellation is ordinary and may come at any await."""
        ...


class HandsOver:
    """Marks a tool that gives its work to somebody else, another agent or the user, and waits for them.

    Adjacent calls of such tools run side by side, whatever they change, and no limit of a run ends the wait.
    """


ToolMap = Mapping[str, Tool]


def define(tools: ToolMap) -> tuple[ToolDefinition, ...]:
    """What the model is told, in the order of the map."""
    return tuple(ToolDefinition(tool.name, tool.description, tool.parameters) for tool in tools.values())
