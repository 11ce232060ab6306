"""What the workspace hands out: one frozen value per row, its fields the columns of the table.

Times are ISO 8601 in UTC with milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.hands.permissions.access import AccessMode

TitleSource = Literal["auto", "user"]

MessageKind = Literal[
    "user", "assistant", "tool_call", "approval", "form", "dispatch", "notice", "error", "plan"
]

MessageState = Literal["streaming", "done", "interrupted", "failed"]

TurnState = Literal["running", "completed", "failed", "aborted", "interrupted", "limit"]

EndState = Literal["completed", "failed", "aborted", "interrupted", "limit"]

TaskKind = Literal["dispatch", "worker", "plan"]
"""``plan``: a step of one, or what Commander is asked about it."""

TaskState = Literal[
    "queued",
    "running",
    "waiting_for_form",
    "waiting_for_approval",
    "done",
    "failed",
    "interrupted",
    "cancelled",
]

OPEN_TASKS = frozenset[TaskState]({"queued", "running", "waiting_for_form", "waiting_for_approval"})
"""Those that somebody works on, or that wait for the user."""

QueueKind = Literal["queue", "steer", "held"]
"""For the end of the turn, for its next boundary, or only when the user says so: the run it waited for was stopped."""


@dataclass(frozen=True, slots=True)
class ConversationRow:
    id: str
    title: str
    """Empty before the first message."""
    title_source: TitleSource
    workspace: str
    model: str | None
    pinned: bool
    archived: bool
    deleted_at: str | None
    """Set while a delete can be undone."""
    created: str
    updated: str
    """Time of the newest message."""
    revision: int
    access: AccessMode = "standard"
    """How much its members do without asking."""
    floor: str = "commander"
    """The member who answers a message that names nobody."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """See ``permissions.rules.Rule``."""

    id: str
    workspace: str
    """Empty for all of them."""
    answer: str
    tool: str
    words: tuple[str, ...]
    exact: bool
    categories: tuple[str, ...]
    created: str


@dataclass(frozen=True, slots=True)
class MessageRow:
    id: str
    conversation: str
    position: int
    """From 1, without gaps."""
    revision: int
    turn: str | None
    member: str
    kind: MessageKind
    state: MessageState
    text: str
    data: Mapping[str, Any]
    """What its kind needs beside the text."""
    created: str
    client_id: str | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    id: str
    conversation: str
    revision: int
    member: str
    session: str
    trigger: str
    state: TurnState
    reason: str | None
    error: Mapping[str, Any] | None
    model: str | None
    started: str
    ended: str | None
    task: str | None = None
    """What it was started for; None where it answers the user."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A job that one member gave another, or a worker without a name."""

    id: str
    conversation: str
    revision: int
    kind: TaskKind
    asker: str
    member: str
    job: str
    given: str
    """The turn in which it was given."""
    call_id: str
    """The call that waits for it."""
    turn: str | None
    """The newest turn that works on it."""
    state: TaskState
    outcome: str | None
    """What came of it, as the asker was told."""
    created: str
    ended: str | None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_TASKS


@dataclass(frozen=True, slots=True)
class PlanRow:
    """The steps that a conversation works off; what they are made of is the room's to know."""

    id: str
    conversation: str
    revision: int
    title: str
    """Of the playbook it was made from; else empty."""
    setter: str
    turn: str | None
    """In which it was set; None where no member set it."""
    state: str
    content: Mapping[str, Any]
    created: str
    begun: str | None
    """None until its first step may begin."""
    ended: str | None


@dataclass(frozen=True, slots=True)
class StepRow:
    id: str
    conversation: str
    turn: str
    """Of a restore an id of its own."""
    call_id: str
    tool: str
    undoes: str | None
    """What a restore took back: the id of a turn, or of a restore."""
    before: str
    after: str | None
    """Ids of snapshots; ``after`` is None while it runs."""
    tally: Mapping[str, Any] | None
    """What its turn has come to with it, see ``hands.undo.tally``; in the last step of a turn only."""
    started: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    conversation: str
    member: str
    model: str | None
    path: str
    """Relative to the data folder."""
    size: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class QueuedRow:
    id: str
    conversation: str
    client_id: str
    text: str
    kind: QueueKind
    position: int
    """Rising, gaps allowed."""
    created: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """What its message will have beside the text."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One model call. Token counts are disjoint."""

    id: str
    time: str
    conversation: str | None
    member: str
    turn: str | None
    purpose: str
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: float | None
    """US dollars; None = unknown."""
    estimated: bool
    duration_ms: int
    first_token_ms: int | None
    outcome: str
