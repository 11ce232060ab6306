"""A room in which plans are worked off, and all that can befall them: one life for each seed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import anyio

from app.engine.errors import ProviderError
from app.engine.provider import ModelRequest, Stop, StreamBatch, StreamEvent
from app.engine.scripted import call
from app.group_chat.events import PlanChanged
from app.group_chat.plan_records import KeptPlan, find_kept, read
from app.group_chat.plan_values import Status
from app.workspace import conversations
from app.workspace.settings import set_setting
from tests.fakes.virtual_time import VirtualLoop
from tests.group_chat.team_minds import Minds
from tests.group_chat.team_world import LONGEST_GAP, Look, TeamWorld
from tests.group_chat.teams import member_of

Shape = Callable[[Random], list[dict[str, Any]]]
"""Of a plan: the steps that Commander sets."""

MOST_STEPS = 7
ASSIGNEES = ("coder", "coder", "writer", "tutor", "commander", "user")
ON_FAILURE = ("abort_plan", "continue", "ask_commander")

ACTS = {
    "post": 3,
    "steer": 1,
    "stop": 1,
    "stop_one": 1,
    "decide": 4,
    "fill_in": 5,
    "resume": 3,
    "restart": 2,
    "go_on": 2,
    "retry_step": 3,
    "skip_step": 2,
    "edit_step": 2,
    "stop_plan": 1,
    "set_parallel": 1,
}


def any_plan(random: Random) -> list[dict[str, Any]]:
    count = random.randint(1, MOST_STEPS)
    return [
        {
            "index": index,
            "title": f"Part {index}",
            "assignee": random.choice(ASSIGNEES),
            "input": f"Do part {index}.",
            "on_failure": random.choice(ON_FAILURE),
            "wait_for": sorted(random.sample(range(1, index), random.randint(0, min(2, index - 1)))),
        }
        for index in range(1, count + 1)
    ]


class PlanMinds(Minds):
    """Commander sets one plan after another; whoever works on a step answers, asks, stumbles or fails."""

    def __init__(self, random: Random, shape: Shape) -> None:
        super().__init__(random)
        self._shape = shape
        self.planned = 0

    def _answer(self, who: str, request: ModelRequest) -> Sequence[StreamEvent | ProviderError | None]:
        plans_now = not self.planned or (not self.calm and self._random.random() < 0.15)
        if who == "commander" and plans_now:
            self.planned += 1
            return self._calls(who, [call("set_plan", self._id(), steps=self._shape(self._random))])
        if self.calm or who == "commander":
            return self._text(who, request)
        name = self._random.choices(tuple(GUEST_ACTS), tuple(GUEST_ACTS.values()))[0]
        act: Callable[[str, ModelRequest], Sequence[StreamEvent | ProviderError | None]] = getattr(
            self, f"_{name}"
        )
        return act(who, request)

    def _end(self, who: str, request: ModelRequest) -> Sequence[StreamEvent]:
        return [self._says(who), Stop("end")]


GUEST_ACTS = {"end": 12, "write": 3, "ask": 2, "fail": 2, "stumble": 3, "cut": 2, "hangs": 1}


class PlanWorld(TeamWorld):
    def __init__(self, seed: int, loop: VirtualLoop, root: Path, look: Look, then: Look) -> None:
        super().__init__(seed, loop, root, look, then)
        self.minds: PlanMinds = PlanMinds(Random(seed + 1), any_plan)
        self.parallel = self._random.choice((1, 1, 2, 4))
        self.arrows: list[tuple[str, Status, Status]] = []
        """By plan and step: from what to what, since the process began."""
        self._before: dict[str, KeptPlan] = {}
        self._read = 0

    @property
    def kept(self) -> KeptPlan | None:
        return find_kept(self.at.store, self.at.room.id)

    async def _some_acts(self, left: int) -> int:
        set_setting(self.at.store, "plan.parallel", str(self.parallel))
        self._before, self._read = {}, self.at.room.feed.number
        if kept := self.kept:
            self._before[kept.id] = kept
        if self._random.random() < 0.5:
            self._kill_in = self._random.randrange(1, 60)
        if not self.posted:
            await self._try(self._post)
        while left and not self._killed:
            await anyio.sleep(self._random.random() * LONGEST_GAP)
            if self._killed:
                break
            left -= 1
            name = self._random.choices(tuple(ACTS), tuple(ACTS.values()))[0]
            self.story.append(f"{self._loop.time():7.2f} {name}")
            if name == "restart":
                break
            await self._try(getattr(self, f"_{name}"))
            self._see(self._look)
        return left

    async def _peace(self) -> None:
        """Everybody just answers, and the user lets the plan go on: it has to come to its end."""
        self.minds.calm = True
        until = self._loop.time() + 3600
        while True:
            await anyio.sleep(3)
            assert self._loop.time() < until, "it does not come to its end"
            if self.minds.hanging:
                await self._stop()
            await self._say_yes()
            self._see(self._look)
            kept = self.kept
            if self.at.room.at_work:
                continue
            if kept is not None and kept.row.state == "done":
                return
            if kept is None:
                self.minds.planned = 0
                await self._try(
                    partial(self.at.room.post, "@Commander plan", client_id=str(self._loop.time()))
                )
            elif failed := kept.plan.having("failed"):
                await self._try(partial(self.at.room.planning.retry, failed[0].index))
            else:
                await self._try(self.at.room.planning.go_on)

    async def _post(self, kind: str = "queue") -> None:
        word = self.minds.mark("user", "said")
        named = self._random.choice(("", "", "@Coder ", "@Commander "))
        self.posted[word] = False
        await self.at.room.post(f"{named}please {word}", client_id=word, kind=kind)  # type: ignore[arg-type]
        self.posted[word] = True

    async def _go_on(self) -> None:
        await self.at.room.planning.go_on()

    async def _retry_step(self) -> None:
        await self.at.room.planning.retry(self._random.randint(1, MOST_STEPS))

    async def _skip_step(self) -> None:
        await self.at.room.planning.skip(self._random.randint(1, MOST_STEPS))

    async def _edit_step(self) -> None:
        step = self._random.randint(1, MOST_STEPS)
        await self.at.room.planning.edit(step, {"input": "Do it in another way."})

    async def _set_parallel(self) -> None:
        await self.at.room.planning.set_parallel(self._random.randint(1, 4))

    async def _stop_plan(self) -> None:
        await self.at.room.planning.stop()

    def follow(self) -> None:
        """What has become of each step since it was looked at last."""
        for number, place in self.at.room.feed.since(self._read) or ():
            self._read = number
            if isinstance(place.event, PlanChanged):
                kept = read(place.event.plan)
                before = self._before.get(kept.id)
                # One that is answered goes on though fewer may begin by now.
                at_work = len(before.plan.having("in_progress", "blocked")) if before else 0
                assert len(kept.plan.having("in_progress")) <= max(at_work, kept.plan.parallel), kept
                for step in kept.plan.steps if before else ():
                    was = before.plan.steps[step.index - 1] if before else step
                    if was.status != step.status:
                        self.arrows.append((f"{kept.id} {step.index}", was.status, step.status))
                self._before[kept.id] = kept


class AtOnce(PlanWorld):
    """A diamond whose two middle steps end at the very same instant; what comes after is in any order."""

    def __init__(self, seed: int, loop: VirtualLoop, root: Path, look: Look, then: Look) -> None:
        super().__init__(seed, loop, root, look, then)
        self.minds = Instant(loop)

    async def live(self) -> None:
        async with self._open(None) as self.at:
            set_setting(self.at.store, "plan.parallel", "2")
            conversations.choose_access(
                self.at.store, self.at.room.id, "standard"
            )  # nobody is there to be asked
            await self.at.room.post("Go.", client_id="c1")
            await self.at.room.wait_quiet()
            self._see(self._then)


class Instant(PlanMinds):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__(Random(0), diamond)
        self.calm = True
        self._loop = loop
        self.ended: list[tuple[str, float]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        who = member_of(request)
        for piece in self._answer(who, request):
            await asyncio.sleep(int(self._loop.time()) + 1 - self._loop.time())
            self.ended.append((who, self._loop.time()))
            assert isinstance(piece, StreamEvent)
            yield (piece,)


def diamond(_: Random) -> list[dict[str, Any]]:
    return [
        {"index": 1, "title": "One", "assignee": "coder"},
        {"index": 2, "title": "Two", "assignee": "writer", "wait_for": [1]},
        {"index": 3, "title": "Three", "assignee": "tutor", "wait_for": [1]},
        {"index": 4, "title": "Four", "assignee": "coder", "wait_for": [2, 3]},
    ]
