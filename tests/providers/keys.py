"""A key as a pool sees it: a wire whose answers are told beforehand, and which remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from app.engine.errors import ProviderError, ProviderErrorKind
from app.engine.provider import AuthCheck, ModelRequest, Stop, StreamBatch, StreamEvent, TextChunk
from app.engine.scripted import ScriptedModel, say
from app.providers.cooldown import Cooldowns
from app.providers.rotation import Candidate

Outcome = ProviderErrorKind | str
"""``fine``, the kind of a failure, or that kind with ``late:`` before it: after the first word."""


class Key:
    """Each call takes the next outcome; where none is left the last one stands."""

    id = "lab"

    def __init__(self, name: str, *outcomes: Outcome, retry_after: float | None = None) -> None:
        self.name = name
        self.outcomes = list(outcomes) or ["fine"]
        self.retry_after = retry_after
        self.requests: list[ModelRequest] = []
        self.passes = True
        self.called: list[str] = []
        """Its name for each call; a ring of keys shares one list."""

    def candidate(self, cooldowns: Cooldowns) -> Candidate:
        return Candidate(cooldowns.credential("lab", self.name, "http://lab/v1", self.name), self)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        self.requests.append(request)
        self.called.append(self.name)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        async for batch in ScriptedModel(self._reply(outcome)).stream(request):
            yield batch

    async def complete(self, request: ModelRequest) -> StreamBatch:
        return tuple([event async for batch in self.stream(request) for event in batch])

    async def validate_auth(self) -> AuthCheck:
        if self.passes:
            return AuthCheck(True, "lab answers and lists 1 model.", ("m",), 5)
        return AuthCheck(False, "lab did not accept the key.", latency_ms=9, failure="auth")

    def _reply(self, outcome: Outcome) -> list[StreamEvent | ProviderError]:
        late, _, kind = outcome.rpartition(":")
        if kind == "fine":
            return [*say(f"by {self.name}")]
        if kind == "silent":
            return [Stop("end")]
        failure = ProviderError(kind, f"{self.name}: {kind}", retry_after=self.retry_after)  # type: ignore[arg-type]
        return [TextChunk("so "), failure] if late else [failure]
