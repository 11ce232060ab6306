"""Models that play a team at random, from a seed: what each says carries a mark that tells whose it is."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from random import Random

from app.engine.errors import ProviderError
from app.engine.provider import ModelRequest, Stop, StreamBatch, StreamEvent, TextChunk
from app.engine.scripted import ScriptedModel, call
from tests.group_chat.teams import member_of

GUESTS = ("coder", "writer", "tutor")
"""The members of these rooms; the tutor may keep the floor."""

MARKS = re.compile(r"\bm\d+q\b")

LONGEST_PAUSE = 0.6
"""Seconds between two pieces of an answer."""

Kind = str
"""Of a mark: ``said``, ``file`` (what somebody put into a file), or ``to X``, a job of X."""


@dataclass(frozen=True)
class Mark:
    owner: str
    kind: Kind


class Minds(ScriptedModel):
    """Every model of the team. ``calm``: from now on everybody just answers."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random
        self.marks: dict[str, Mark] = {}
        self.asked: list[tuple[str, ModelRequest]] = []
        self.calm = False
        self.is_heard = True
        """Whether what is asked counts: what a dead process still does has never been."""
        self.hanging = 0
        self._steps: Counter[str] = Counter()
        self._count = 0

    def mark(self, owner: str, kind: Kind) -> str:
        word = f"m{len(self.marks)}q"
        self.marks[word] = Mark(owner, kind)
        return word

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        who = member_of(request)
        if self.is_heard:
            self.asked.append((who, request))
        for piece in self._answer(who, request):
            await asyncio.sleep(self._random.random() * LONGEST_PAUSE)
            if isinstance(piece, ProviderError):
                raise piece
            if piece is None:
                await self._hang()
            else:
                yield (piece,)

    async def _hang(self) -> None:
        self.hanging += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.hanging -= 1

    def _answer(self, who: str, request: ModelRequest) -> Sequence[StreamEvent | ProviderError | None]:
        acts = COMMANDER_ACTS if who == "commander" else WORKER_ACTS if who == "worker" else GUEST_ACTS
        tired = sum(bool(message.results) for message in request.messages[-12:]) > 4
        if self.calm or tired:
            return self._text(who, request)
        names, weights = zip(*acts.items(), strict=True)
        act: Callable[[str, ModelRequest], Sequence[StreamEvent | ProviderError | None]]
        act = getattr(self, f"_{self._random.choices(names, weights)[0]}")
        return act(who, request)

    def _says(self, who: str) -> TextChunk:
        return TextChunk(f"I say {self.mark(who, 'said')}. ")

    def _text(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        return [self._says(who), TextChunk("That is all."), Stop("end")]

    def _marker(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        words = [] if self._random.random() < 0.3 else [self._says(who)]
        return [*words, TextChunk("\n\n<hand"), TextChunk("back />"), Stop("end")]

    def _hand_back(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        reason = f"I am done {self.mark(who, 'to commander')}"
        return self._calls(who, [call("hand_back", self._id(), reason=reason)])

    def _look(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        return self._calls(who, [call("list_files", self._id(), path=".")])

    def _ask(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        field = {"id": "answer", "type": "text", "label": "Which one?"}
        return self._calls(who, [call("ask_user", self._id(), title="A question", fields=[field])])

    def _write(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        content = self.mark(who, "file")
        return self._calls(
            who, [call("write_file", self._id(), path=f"{who}/{content[1:]}", content=content)]
        )

    def _read(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        """Of the files that are there only its own, so that what is in a file stays with who wrote it."""
        own = [word for word, mark in self.marks.items() if mark == Mark(who, "file")] or ["m"]
        path = f"{who}/{self._random.choice(own)[1:]}"
        return self._calls(who, [call("read_file", self._id(), path=path)])

    def _dispatch(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        several = self._random.choice((1, 2, 2, 3, 6))
        return self._calls(who, [self._job(number) for number in range(several)])

    def _job(self, number: int) -> StreamEvent:
        to = self._random.choice((*GUESTS, "", ""))
        word = self.mark("commander", f"to {to or 'worker'}")
        job = f"Do {word}"
        if to and self._random.random() < 0.6:
            return call("dispatch_to", self._id(), number, to=to, message=job)
        return call("run_worker", self._id(), number, task=job, **({"to": to} if to else {}))

    def _hand_off(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        to = self._random.choice((*GUESTS, "tutor", "nobody"))
        message = f"Answer {self.mark('commander', f'to {to}')}"
        return self._calls(who, [call("hand_off_to", self._id(), to=to, message=message)])

    def _fail(self, who: str, request: ModelRequest) -> Sequence[StreamEvent | ProviderError]:
        return [self._says(who), ProviderError("auth", "The key was refused.")]

    def _stumble(self, who: str, request: ModelRequest) -> Sequence[ProviderError]:
        return [ProviderError("server", "The server is down.")]

    def _cut(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        return [self._says(who)]

    def _silent(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        return [Stop("end")]

    def _hangs(self, who: str, request: ModelRequest) -> Sequence[StreamEvent | None]:
        return [self._says(who), None]

    def _calls(self, who: str, calls: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
        words = [self._says(who)] if self._random.random() < 0.5 else []
        return [*words, *calls, Stop("tool_calls")]

    def _id(self) -> str:
        self._count += 1
        return f"call{self._count}"


_FAULTS = {"fail": 2, "stumble": 2, "cut": 2, "silent": 1, "hangs": 3}
_COMPANY = {"dispatch": 50, "hand_off": 10}
COMMANDER_ACTS = {"text": 10, "look": 2, "write": 2, "ask": 2, "marker": 1, **_COMPANY, **_FAULTS}
GUEST_ACTS = {"text": 10, "look": 4, "write": 5, "ask": 2, "read": 3, "marker": 3, "hand_back": 4, **_FAULTS}
WORKER_ACTS = {"text": 10, "look": 4, "write": 5, "ask": 2, "read": 3, **_FAULTS}
