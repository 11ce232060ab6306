"""What a request is going to say, before any wire's spelling of it; and what a wire has to know to spell it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.engine.messages import Reasoning
from app.engine.pictures import Picture, PictureLimits
from app.engine.provider import ModelRequest, ToolDefinition

Entry = dict[str, Any]
"""One message, or another object, as the wire has it."""


@dataclass(frozen=True, slots=True)
class WireCall:
    """A call with an id that no other call of the request has, a name and arguments every server takes."""

    id: str
    name: str
    arguments: Entry
    data: Entry = field(default_factory=dict)
    """What this very server added to it."""


@dataclass(frozen=True, slots=True)
class Said:
    """By the user. No text is blank."""

    parts: tuple[str | Picture, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """By the model, in the order of its blocks. Thinking is only that of the very model that will answer."""

    parts: tuple[str | Reasoning | WireCall, ...]


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call came to. The text is not blank."""

    call: WireCall
    text: str
    failed: bool


Line = Said | Answered | Returned


class Writer(Protocol):
    """One wire's spelling. Entries are shared between requests: nobody changes one that is written."""

    @property
    def own_id(self) -> re.Pattern[str]:
        """The ids of its own that this server takes back."""
        ...

    @property
    def pictures(self) -> PictureLimits: ...

    def write(self, line: Line) -> Entry | None:
        """The line as a message with a ``role``; None where nothing of it can be said on this wire."""
        ...

    def merged(self, first: Entry, second: Entry) -> Entry | None:
        """Two neighbours of one role as one; None where the wire wants them apart."""
        ...

    def paired(self, entry: Entry) -> tuple[Sequence[str], Sequence[str]]:
        """The ids of the calls in a message, and of the calls that its results answer."""
        ...

    def tool(self, tool: ToolDefinition) -> Entry: ...

    def body(self, request: ModelRequest, system: str, entries: list[Entry], tools: list[Entry]) -> Entry:
        """The whole request. ``system`` may be empty, ``tools`` too."""
        ...
