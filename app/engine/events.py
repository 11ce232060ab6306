"""What a run says while it goes on. The last event of every run is exactly one ``Done``.

The class attribute ``type`` is the public name of the event in ``plancia run --json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from app.engine.messages import Image

DoneStatus = Literal["completed", "failed", "aborted", "interrupted", "limit"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer; ``message_id`` names the message that will hold all of it."""

    type: ClassVar[str] = "text_delta"
    text: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    type: ClassVar[str] = "reasoning_delta"
    text: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ToolDelta:
    """Arguments of a call while they arrive."""

    type: ClassVar[str] = "tool_delta"
    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolStart:
    type: ClassVar[str] = "tool_start"
    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Approval:
    """A call waits until the user allows or denies it.

    ``kind`` says what it would do, in a word; ``subject`` is what the user is shown, as JSON.
    """

    type: ClassVar[str] = "approval"
    id: str
    call_id: str
    kind: str
    subject: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolProgress:
    type: ClassVar[str] = "tool_progress"
    call_id: str
    text: str | None = None
    done: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class ToolEnd:
    type: ClassVar[str] = "tool_end"
    call_id: str
    name: str
    result: str
    is_error: bool
    error_code: str | None
    duration_ms: int
    images: tuple[Image, ...] = ()
    """What the model is shown beside the text."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The older part of the history was summarised for the model; ``message_id`` names the summary."""

    type: ClassVar[str] = "compaction"
    tokens_before: int
    tokens_after: int
    message_id: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The same request is sent again after ``wait_ms``; ``attempt`` only rises within a run."""

    type: ClassVar[str] = "retry"
    attempt: int
    wait_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class Fallback:
    type: ClassVar[str] = "fallback"
    from_model: str
    to_model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Omission:
    """The model did not get all of the history; ``reason`` says what is missing, why, and what to do."""

    type: ClassVar[str] = "omission"
    model: str
    parts: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Steer:
    """A message of the user was folded into the running turn."""

    type: ClassVar[str] = "steer"
    text: str
    message_id: str


@dataclass(frozen=True, slots=True)
class LoopWarning:
    type: ClassVar[str] = "loop_warning"
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one model call. Token counts are disjoint: what no cache served, answered, read and written."""

    type: ClassVar[str] = "usage"
    provider: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    """US dollars; None where the price is unknown."""
    estimated: bool = False
    """True where the provider did not report and the counts are ours."""
    duration_ms: int = 0
    first_token_ms: int | None = None
    outcome: str = "ok"
    """``ok`` or the kind of the error that ended the call."""
    purpose: Literal["turn", "compaction", "image"] = "turn"
    """What the call was for."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the ``Usage`` events of one run; ``cost`` is None as soon as one call's is."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed: a kind for programs, a sentence for people."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolErrors:
    transient: int = 0
    permanent: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    type: ClassVar[str] = "done"
    status: DoneStatus
    text: str = ""
    """The closing answer: the text of the last assistant message."""
    reason: str | None = None
    error: Failure | None = None
    usage: Totals = field(default_factory=Totals)
    steps: int = 0
    tool_errors: ToolErrors = field(default_factory=ToolErrors)


Event = (
    TextDelta
    | ReasoningDelta
    | ToolDelta
    | ToolStart
    | Approval
    | ToolProgress
    | ToolEnd
    | Compaction
    | Retry
    | Fallback
    | Omission
    | Steer
    | LoopWarning
    | Usage
    | Done
)
