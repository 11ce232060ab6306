"""The seam to models: what a run asks for and what streams back.

A provider is one wire (``providers/`` has one file each); a ``ModelSource`` turns a model string into one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from app.engine.errors import ProviderErrorKind
from app.engine.ladder import Part
from app.engine.messages import Message

StopReason = Literal["end", "tool_calls", "output_limit", "filtered", "refused", "pause"]
"""Why the model stopped. A stream that ends without one was cut."""


Effort = Literal["off", "low", "medium", "high"]
"""How much thinking is asked for. ``off``: none is asked for, and the model does as it is used to."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model is told about a tool; ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call in canonical form; the provider compiles it for its own wire."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    """``none``: this answer may call no tool, though the tools stand there as before."""
    session_id: str | None = None
    """Cache key where the provider supports one."""
    max_output_tokens: int | None = None
    """What is asked for; None = the provider's own limit."""
    longest_output: int | None = None
    """What the model can answer with, where that is known: no wire asks for more. See ``room``."""
    sees_pictures: bool = True
    """False: pictures are told of in words, for this model would refuse them or could make nothing of them."""
    reasoning: Effort = "off"

    def room(self, usual: int | None = None) -> int | None:
        """Tokens to ask for; ``usual`` are a wire's own where nothing is asked for."""
        wanted = usual if self.max_output_tokens is None else self.max_output_tokens
        return wanted if wanted is None else min(wanted, self.longest_output or wanted)


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """A piece of thinking. A chunk with ``data`` closes the block and carries the provider's own form of it."""

    text: str = ""
    signature: str | None = None
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CallFragment:
    """A piece of a tool call, as it came: any of the fields may be missing."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | None = None
    data: Mapping[str, Any] | None = None
    """What the provider added to the call."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Token counts of one call, disjoint: the input that no cache served, the output, cached read, cache written."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    reason: StopReason


Missing = Part | Literal["beginning"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The model does not get these parts of the history. A batch of its own.

    What is a ``Part`` the server refused: this request, and those after it, go without. The ``beginning`` it dropped
    by itself and answered all the same: of about ``sent`` tokens it read so many, in a ``window`` that may be known.
    """

    parts: tuple[Missing, ...]
    sent: int = 0
    read: int = 0
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Rotated:
    """A key of the source was turned away before anything came; the next one is asked. A batch of its own."""

    outcome: ProviderErrorKind
    duration_ms: int


StreamEvent = TextChunk | ReasoningChunk | CallFragment | UsageReport | Stop | LeftOut | Rotated

StreamBatch = tuple[StreamEvent, ...]
"""The events that arrived in one read of the network: one wake-up of the consumer, not one per token."""


@dataclass(frozen=True, slots=True)
class AuthCheck:
    """The answer of a Test button: ``ok``, a sentence, the models the server names, the time it took, what failed."""

    ok: bool
    message: str
    models: tuple[str, ...] = ()
    latency_ms: int = 0
    failure: ProviderErrorKind | None = None


class Provider(Protocol):
    """One wire to a model server."""

    @property
    def id(self) -> str:
        """The name of the source, as in ``provider/model``."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        """Stream one answer.

        Raises ``ProviderError`` before or in the middle of the stream. A stream that merely ends without a
        ``Stop`` was cut by the server. Closing the iterator closes the connection.
        """
        ...

    async def complete(self, request: ModelRequest) -> StreamBatch:
        """The same call, collected: all events in order."""
        ...

    async def validate_auth(self) -> AuthCheck:
        """Ask the server something cheap and say in words what is wrong, never raising for it."""
        ...


def nobody() -> None:
    """The fallback of a model that somebody chose by name: no other one answers for it."""


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model string, resolved: who answers, under which name, within which limits."""

    provider: Provider
    model: str
    """The name the provider knows."""
    endpoint: str | None = None
    context_window: int = 32_768
    max_output: int | None = None
    """Tokens of its longest answer, whoever knows it: no call asks for more."""
    price_in: float | None = None
    price_out: float | None = None
    """US dollars per million tokens; None = unknown."""
    allowed_output: int | None = None
    """What the user lets it answer with: every call asks for that. None = nothing was said; a turn has no cap then."""
    sees_pictures: bool = True
    """False only where that is known."""
    takes_tools: bool = True
    """False only where the user says so: catalogues are wrong about it too often."""
    reasoning: Effort = "off"
    """Asked for only of a model that is known to reason."""
    fallback: Callable[[], ResolvedModel | None] = nobody
    """Who answers where this one cannot: the next group of the user's order. Called in a thread, as ``resolve``."""

    @property
    def label(self) -> str:
        """``provider/model``, as users write it."""
        return f"{self.provider.id}/{self.model}"


class ModelSource(Protocol):
    """Turns model strings into providers."""

    def resolve(self, name: str | None) -> ResolvedModel:
        """``provider/model``, else a bare name by prefix, else (None) the default. Called in a thread: it may block.

        Raises ``ProviderError`` of kind ``unknown_model`` with what to do.
        """
        ...
