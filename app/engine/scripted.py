"""A model that says what it was told to say: the double of the provider seam, for tests and examples."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any

from app.engine.errors import ProviderError
from app.engine.provider import (
    AuthCheck,
    CallFragment,
    ModelRequest,
    ResolvedModel,
    Stop,
    StopReason,
    StreamBatch,
    StreamEvent,
    TextChunk,
)

Reply = Iterable[StreamEvent | ProviderError]
"""What one call brings, a batch each; an error in it is raised at its place."""


def say(*pieces: str, stop: StopReason | None = "end") -> list[StreamEvent]:
    """An answer in pieces; ``stop`` None = the stream is cut."""
    return [*map(TextChunk, pieces), *([Stop(stop)] if stop else [])]


def call(name: str, id: str | None = None, index: int = 0, **arguments: Any) -> CallFragment:
    """One whole tool call; the model's ``Stop("tool_calls")`` is added by the script."""
    return CallFragment(index, id or f"call_{name}_{index}", name, json.dumps(arguments))


class ScriptedModel:
    """Provider and model source in one. Each call takes the next reply; ``requests`` keeps what was asked."""

    id = "scripted"

    def __init__(self, *replies: Reply | Callable[[ModelRequest], Reply], window: int = 32_768) -> None:
        self._replies = list(replies)
        self._window = window
        self.requests: list[ModelRequest] = []
        self.open_streams = 0

    def resolve(self, name: str | None) -> ResolvedModel:
        return ResolvedModel(self, name or "model", context_window=self._window, price_in=1.0, price_out=2.0)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        self.requests.append(request)
        if not self._replies:
            raise ProviderError("local", "The script has no reply left.")
        reply = self._replies.pop(0)
        self.open_streams += 1
        try:
            calls = False
            for item in reply(request) if callable(reply) else reply:
                if isinstance(item, ProviderError):
                    raise item
                calls = calls or isinstance(item, CallFragment)
                yield (item,)
            if calls:
                yield (Stop("tool_calls"),)
        finally:
            self.open_streams -= 1

    async def complete(self, request: ModelRequest) -> StreamBatch:
        return tuple([event async for batch in self.stream(request) for event in batch])

    async def validate_auth(self) -> AuthCheck:
        return AuthCheck(True, "Scripted: there is nothing to reach.")
