"""The demo model, ``demo/tour``: a script behind the seam of every model. Offline, free, always the same."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from app.engine.messages import Message
from app.engine.provider import (
    AuthCheck,
    CallFragment,
    ModelRequest,
    Stop,
    StreamBatch,
    StreamEvent,
    TextChunk,
    UsageReport,
)
from app.engine.tokens import estimate_request, estimate_tokens
from app.infra.clock import Clock
from app.providers.demo_moves import Move
from app.providers.demo_script import next_move
from app.providers.demo_words import LABEL, SUGGESTIONS, Suggestion, plain

__all__ = ["CONTEXT_WINDOW", "LABEL", "MODEL", "NAME", "SUGGESTIONS", "Demo", "Suggestion"]

NAME = "tour"
MODEL = "demo/tour"
CONTEXT_WINDOW = 200_000

_FIRST_SECONDS = 0.15
_WORD_SECONDS = 0.02
_FRAGMENT = 24


class Demo:
    """Answers by ``demo_script``, a word at a time."""

    id = "demo"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        move = _move(request)
        await self._clock.sleep(_FIRST_SECONDS)
        for event in _pieces(move, request):
            yield (event,)
            await self._clock.sleep(_WORD_SECONDS)
        yield (_usage(move, request), Stop("tool_calls" if move.calls else "end"))

    async def complete(self, request: ModelRequest) -> StreamBatch:
        async with aclosing(self.stream(request)) as batches:
            return tuple([event async for batch in batches for event in batch])

    async def validate_auth(self) -> AuthCheck:
        return AuthCheck(True, f"{LABEL}. It needs no key and no network.", (NAME,))


def _move(request: ModelRequest) -> Move:
    """A capped call is a title or the like: the script can only give the user's own words back."""
    if request.max_output_tokens is not None:
        return Move(plain(_last_words(request.messages), min(60, request.max_output_tokens * 3)))
    return next_move(request.messages, {tool.name for tool in request.tools})


def _last_words(messages: tuple[Message, ...]) -> str:
    said = (message.text for message in reversed(messages) if message.role == "user" and message.text.strip())
    return next(said, "Demo")


def _pieces(move: Move, request: ModelRequest) -> Iterator[StreamEvent]:
    for word in re.findall(r"\S+\s*|\s+", move.text):
        yield TextChunk(word)
    for index, (tool, arguments) in enumerate(move.calls):
        text = json.dumps(arguments, ensure_ascii=False)
        yield CallFragment(index, _call_id(request, index), tool)
        for start in range(0, len(text), _FRAGMENT):
            yield CallFragment(index, arguments=text[start : start + _FRAGMENT])


def _call_id(request: ModelRequest, index: int) -> str:
    """Unique in the room without chance: it hangs on the id of the message that is answered."""
    return f"call_{request.messages[-1].id}{f'_{index}' if index else ''}"


def _usage(move: Move, request: ModelRequest) -> UsageReport:
    calls = "".join(json.dumps(arguments, ensure_ascii=False) for _, arguments in move.calls)
    return UsageReport(estimate_request(request), estimate_tokens(move.text + calls), cost=0.0)
