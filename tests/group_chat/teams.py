"""A model that plays a whole team: each member has a script of its own, and answers when its gate is open."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio

from app.engine.provider import ModelRequest, StreamBatch
from app.engine.scripted import Reply, ScriptedModel, call

_WHO = re.compile(r"You are (?:(Commander)|(a worker)|([\w ]+?)), ")


class TeamModel(ScriptedModel):
    """``scripts`` are replies by member, as they are called; ``asked`` keeps the requests of each."""

    def __init__(
        self, window: int = 32_768, **scripts: list[Reply | Callable[[ModelRequest], Reply]]
    ) -> None:
        super().__init__(window=window)
        self._scripts = {name: ScriptedModel(*replies, window=window) for name, replies in scripts.items()}
        self.asked: defaultdict[str, list[ModelRequest]] = defaultdict(list)
        self.gates: dict[str, anyio.Event] = {}
        """Members that answer only once their gate is open."""
        self._came: defaultdict[tuple[str, int], anyio.Event] = defaultdict(anyio.Event)

    async def asks(self, who: str, times: int = 1) -> None:
        """Return once a member has been asked so often."""
        with anyio.fail_after(20):
            await self._came[who, times].wait()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        who = member_of(request)
        self.requests.append(request)
        self.asked[who].append(request)
        self._came[who, len(self.asked[who])].set()
        if gate := self.gates.get(who):
            await gate.wait()
        async for batch in self._scripts[who].stream(request):
            yield batch


def member_of(request: ModelRequest) -> str:
    """``commander``, ``worker``, ``summary`` for who sums up a history, or the name of a member in small letters."""
    if request.system.startswith("You write the summary"):
        return "summary"
    found = _WHO.match(request.system)
    assert found, request.system[:80]
    if found[1]:
        return "commander"
    return "worker" if found[2] else found[3].lower()


def heard(request: ModelRequest) -> str:
    """All that the user's side of a request says."""
    return "\n".join(message.text for message in request.messages if message.role == "user")


def results(request: ModelRequest) -> list[str]:
    """The results that a request ends with."""
    return [result.text for message in request.messages[-8:] for result in message.results]


def dispatch(*jobs: tuple[str, str], **more: Any) -> list[Any]:
    """One step that sends several members."""
    return [
        call("dispatch_to", f"d_{number}_{to}", number, to=to, message=job)
        for number, (to, job) in enumerate(jobs)
    ]
