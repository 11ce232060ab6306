"""The canonical history: messages made of blocks, all frozen values.

Identity (``id``, ``time``) belongs to the message; blocks have none but a call's own id.
Nothing here knows a provider's dialect: ``compiler.py`` translates, ``session.py`` stores.

They are msgspec's structs, so that a transcript is read straight into them: a history of ten thousand messages opens
in half the time that data classes take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

Role = Literal["user", "assistant", "tool"]

ResultStatus = Literal["ok", "error", "interrupted", "outcome_unknown"]
"""``interrupted``: the call never ran or was cut off. ``outcome_unknown``: it was begun, it may have
changed something, and nobody saw how it ended."""

CallProblem = Literal["incomplete", "not_json", "not_object", "duplicate_key", "no_name"]
"""Why a call cannot be run although the model asked for it."""

MarkerKind = Literal["stopped_by_user", "interrupted"]


class _Value(Struct, frozen=True, omit_defaults=True, gc=False):
    """Frozen; on disk without what is as usual. No value holds itself, so the collector need not look at them."""


class _Block(_Value, frozen=True, tag_field="type"):
    """One part of a message, told apart by its ``type`` on disk."""


class Text(_Block, frozen=True, tag="text"):
    text: str


class Reasoning(_Block, frozen=True, tag="reasoning"):
    """A model's thinking. ``data`` is the provider's own block, replayed untouched to the model that made it."""

    text: str
    signature: str | None = None
    data: Mapping[str, Any] | None = None


class ToolCall(_Block, frozen=True, tag="tool_call"):
    """What the model asked for. With a ``problem`` it is answered, never run; ``raw`` then holds its text."""

    id: str
    name: str
    arguments: Mapping[str, Any] = {}
    problem: CallProblem | None = None
    raw: str | None = None
    data: Mapping[str, Any] | None = None
    """What the provider added to it, such as a signature; replayed untouched to the model that made it."""


class ToolResult(_Block, frozen=True, tag="tool_result"):
    call_id: str
    text: str
    status: ResultStatus = "ok"
    code: str | None = None
    """``E_STALE`` and its like; None for a success."""


class Image(_Block, frozen=True, tag="image"):
    """A picture by reference (an attachment or a result on disk) or inline as base64."""

    ref: str | None = None
    media_type: str | None = None
    data: str | None = None


class Marker(_Block, frozen=True, tag="marker"):
    """Says in the history that a run ended early, so that the next call reads sense into what stands before."""

    marker: MarkerKind = field(name="kind")


Block = Text | Reasoning | ToolCall | ToolResult | Image | Marker


class Origin(_Value, frozen=True):
    """Which model wrote an assistant message, and at which endpoint."""

    provider: str
    model: str
    endpoint: str | None = None


class Summary(_Value, frozen=True):
    """What a message replaces in the model's view: all before it, but for a tail and some messages of the user."""

    kept_from: str | None
    """The id of the first message of the tail; None where nothing before the summary is kept."""
    resend: tuple[str, ...] = ()
    """The ids of the messages of the user that are sent again word for word."""
    tokens_before: int = 0
    tokens_after: int = 0
    """Estimates of the whole request."""


class Message(_Value, frozen=True):
    """One line of a session. ``time`` is ISO 8601 in UTC with milliseconds."""

    role: Role
    blocks: tuple[Block, ...]
    id: str
    time: str
    origin: Origin | None = None
    summary: Summary | None = None
    """Set where the message is a summary; its text is what the model reads."""

    @property
    def text(self) -> str:
        """All text blocks, joined."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))
