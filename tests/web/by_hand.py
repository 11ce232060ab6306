"""A model and a tool that a test leads by the hand: each does the next thing when it is given it, and waits again."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import anyio

from app.engine.errors import ProviderError
from app.engine.provider import AuthCheck, ModelRequest, ResolvedModel, Stop, StreamBatch, StreamEvent
from app.engine.tools import ToolContext, ToolOutput
from app.group_chat.members import Members, Prepared
from app.group_chat.room import Room
from app.workspace.rows import ConversationRow

Who = Literal["model", "tool"]


class Hand:
    """Holds what model and tool are to do next, and knows when everything stands still."""

    def __init__(self) -> None:
        self._given: dict[Who, deque[Any]] = {"model": deque(), "tool": deque()}
        self._waiting: set[Who] = set()
        self._pulse = anyio.Event()

    async def take(self, who: Who) -> Any:
        self._waiting.add(who)
        try:
            while not self._given[who]:
                pulse = self._ring()
                await pulse.wait()
        finally:
            self._waiting.discard(who)
        return self._given[who].popleft()

    def give(self, who: Who, *items: Any) -> None:
        self._given[who] += items
        self._ring()

    def forget(self) -> None:
        """What was given and never taken belongs to no later run."""
        for given in self._given.values():
            given.clear()

    @property
    def waits(self) -> set[Who]:
        """Who stands and waits for the test."""
        return {who for who in self._waiting if not self._given[who]}

    async def settle(self, room: Room) -> None:
        """Returns when model or tool waits for the test, or nobody is at work in the room."""
        with anyio.fail_after(20):
            while room.floor.is_live and not self.waits:
                await _first(self._pulse.wait, room.wait_quiet)

    def _ring(self) -> anyio.Event:
        self._pulse.set()
        self._pulse = anyio.Event()
        return self._pulse


class ModelByHand:
    """Provider and source in one; an item is an event of the stream, an error to raise, or None for a cut."""

    id = "hand"

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        self.requests: list[ModelRequest] = []

    def resolve(self, name: str | None) -> ResolvedModel:
        return ResolvedModel(self, name or "model", price_in=1.0, price_out=2.0)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        self.requests.append(request)
        while True:
            item: StreamEvent | ProviderError | None = await self._hand.take("model")
            if isinstance(item, ProviderError):
                raise item
            if item is None:
                return
            yield (item,)
            if isinstance(item, Stop):
                return

    async def complete(self, request: ModelRequest) -> StreamBatch:
        return tuple([event async for batch in self.stream(request) for event in batch])

    async def validate_auth(self) -> AuthCheck:
        return AuthCheck(True, "There is nothing to reach.")


class ToolByHand:
    """A text is progress; a ``ToolOutput`` ends the call."""

    name = "count"
    description = "Counts as far as it is told to."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {"to": {}},
        "additionalProperties": False,
    }
    read_only = False

    def __init__(self, hand: Hand) -> None:
        self._hand = hand

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        while True:
            item: str | ToolOutput = await self._hand.take("tool")
            if isinstance(item, ToolOutput):
                return item
            context.progress(item, None, None)


class MembersByHand(Members):
    """The members as they are, with one tool more."""

    hand: Hand

    async def prepare(self, member: str, conversation: ConversationRow, *more: Any) -> Prepared:
        prepared = await super().prepare(member, conversation, *more)
        tool = ToolByHand(self.hand)
        agent = replace(prepared.agent, tools={**prepared.agent.tools, tool.name: tool})
        return replace(prepared, agent=agent)


async def _first(*waits: Callable[[], Awaitable[object]]) -> None:
    """Returns when one of them does; the others are cancelled."""
    async with anyio.create_task_group() as tasks:

        async def wait(one: Callable[[], Awaitable[object]]) -> None:
            await one()
            tasks.cancel_scope.cancel()

        for one in waits:
            tasks.start_soon(wait, one)
