"""A room full of members, its user, and all that can befall them, on time of its own: one life for each seed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from app.engine.messages import Message
from app.engine.session import JsonlSession
from app.group_chat.errors import RoomError
from app.group_chat.events import LogReordered, RowAdded, RowChanged
from app.group_chat.live_turns import SAVE_AGAIN
from app.group_chat.members import Members
from app.infra.clock import SystemClock
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.models.errors import StorageError
from app.workspace import conversations, queue, sessions, tasks, turns
from app.workspace.agents import list_agents
from app.workspace.errors import NotFound
from app.workspace.rows import MessageRow, QueuedRow, SessionRow, TaskRow, TurnRow
from tests.fakes.virtual_time import LoopClock, VirtualLoop, virtual_loop
from tests.group_chat.rooms import House, OnWrite, house
from tests.group_chat.team_minds import GUESTS, Minds

LONGEST_GAP = 6.0
"""Seconds between two acts of the user."""

ACTS = 12
"""Of the user, in one life."""

DEADLY = 0.5
"""How many of the processes die."""

MOST_WRITES = 100
"""To the disk, before a process that is to die does."""

LONGEST_FULL = 4.0
"""Seconds for which the disk takes nothing."""

STOPS_WITHIN = 2.0
LONGEST_LIFE = 3600.0
"""Seconds of its own time, once everybody is calm, within which a room has become quiet."""


Look = Callable[[Any], None]
"""At a world, or back at one."""


class TeamWorld:
    """``look`` is called whenever there is something to see, ``then`` at the end."""

    def __init__(self, seed: int, loop: VirtualLoop, root: Path, look: Look, then: Look) -> None:
        self._random = Random(seed)
        self._loop = loop
        self._root = root
        self._look = look
        self._then = then
        self.clock = LoopClock(loop)
        self.minds = Minds(Random(seed + 1))
        self.at: House
        self.seen: Seen
        self.page: Page
        self.called: dict[str, frozenset[str]] = {}
        """Marks of the user's messages that were sent while nobody was at work, and the members that each calls."""
        self.posted: dict[str, bool] = {}
        """Marks of the user's messages, and whether that they were sent has been answered."""
        self.story: list[str] = []
        self.histories: dict[str, tuple[Message, ...]] = {}
        """What each session holds at the end."""
        self._ids = 0
        self._kill_in: int | None = None
        self._killed = False
        self._is_full = False
        self._beside: anyio.abc.TaskGroup

    async def live(self) -> None:
        """All acts, over as many processes as it takes, and then peace."""
        left = ACTS
        conversation = None
        while True:
            async with self._open(conversation) as at:
                conversation = at.room.id
                async with anyio.create_task_group() as self._beside:
                    left = await self._some_acts(left)
                    if not left and not self._killed:
                        self._kill_in = None
                        await self._peace()
                        self.histories = {
                            row.member + row.id: tuple((await at.members.open_session(row)).messages)
                            for row in sessions.list_sessions(at.store, at.room.id)
                        }
                        self._see(self._then)
                        return
                    self._beside.cancel_scope.cancel()
            self._go_on_from_the_crash()

    async def _some_acts(self, left: int) -> int:
        """Until there are none left, or the process is gone; returns how many are left."""
        if self._random.random() < DEADLY:
            self._kill_in = self._random.randrange(1, MOST_WRITES)
        opened = bool(self.posted)
        while left and not self._killed:
            await anyio.sleep(self._random.random() * LONGEST_GAP)
            if self._killed:
                break
            left -= 1
            if opened and self._random.random() < 0.5:
                name = "resume"
            else:
                name = self._random.choices(tuple(USER_ACTS), tuple(USER_ACTS.values()))[0]
            opened = False
            self.story.append(f"{self._loop.time():7.2f} {name}")
            if name == "restart":
                break
            act = getattr(self, f"_{name}")
            if name != "stop" and self._random.random() < 0.3:
                self._beside.start_soon(self._try, act)
            else:
                await self._try(act)
            self._see(self._look)
        return left

    async def _try(self, act: Callable[[], Awaitable[None]]) -> None:
        try:
            await act()
        except (RoomError, NotFound, StorageError) as refused:
            self.story.append(f"        refused: {refused}")

    async def _peace(self) -> None:
        """From now on everybody just answers, and the user says yes to all: it has to become quiet."""
        self.minds.calm = True
        await anyio.sleep(LONGEST_FULL + SAVE_AGAIN)
        until = self._loop.time() + LONGEST_LIFE
        for _ in range(3):
            while self.at.room.at_work:
                assert self._loop.time() < until, "it does not become quiet"
                if self.minds.hanging:
                    await self._stop()
                await self._say_yes()
                await anyio.sleep(3)
                self._see(self._look)
            await self._say_yes()
            await self._try(self.at.room.resume)
        await self.at.quiet()
        word = self.minds.mark("user", "said")
        self.posted[word] = True
        await self.at.say(f"@Commander what came of it, {word}?", client_id=word)

    # The user

    async def _post(self, kind: str = "queue") -> None:
        named = tuple(
            self._random.sample(
                ("Commander", "Coder", "Writer", "Tutor"), self._random.choice((0, 0, 0, 1, 1, 2))
            )
        )
        word = self.minds.mark("user", "said")
        is_free = not self.at.room.at_work
        text = " ".join((*(f"@{name}" for name in named), f"please {word}"))
        self.posted[word] = False
        await self.at.room.post(text, client_id=word, kind=kind)  # type: ignore[arg-type]
        self.posted[word] = not self._killed
        if is_free:
            self.called[word] = frozenset(name.lower() for name in named)

    async def _steer(self) -> None:
        await self._post("steer")

    async def _send_now(self) -> None:
        if row := self._one(self.queued()):
            await self.at.room.send_now(row.id)

    async def _delete(self) -> None:
        if row := self._one(self.queued()):
            self.posted[row.client_id] = False
            await self.at.room.waiting.delete(row.id)

    async def _stop(self) -> None:
        began = self._loop.time()
        await self.at.room.stop()
        assert self._loop.time() - began <= STOPS_WITHIN + 0.1, "stop takes too long"
        if not self._killed and not self._is_full:
            rows = self.at.room.list_tasks()
            open_ones = [row.member for row in rows if row.is_open and row.state != "waiting_for_form"]
            assert not open_ones, f"after a stop tasks are open: {open_ones}"
            assert not self.at.room.at_work, "after a stop somebody is at work"

    async def _stop_one(self) -> None:
        if floor := self._one(list(self.at.room.at_work)):
            await self.at.room.stop(floor.turn)

    async def _decide(self) -> None:
        if row := self._one(self._asking()):
            decision = self._random.choice(("allow_once", "allow_once", "deny"))
            await self.at.room.decide(row.id, decision)

    async def _say_yes(self) -> None:
        for row in self._asking():
            await self._try(partial(self.at.room.decide, row.id, "allow_once"))
        while self._forms():
            await self._try(self._fill_in)

    async def _fill_in(self) -> None:
        if form := self._one(self._forms()):
            if self._random.random() < 0.3:
                await self.at.room.forms.decline(form.id, "not now")
            else:
                assert not await self.at.room.forms.answer(form.id, {"answer": ["yes"]})

    async def _take_back(self) -> None:
        await self.at.room.take_back_floor()

    async def _resume(self) -> None:
        await self.at.room.resume()

    async def _try_again(self) -> None:
        """A job that did not come to its end."""
        if row := self._one([row for row in self.at.room.list_tasks() if not row.is_open]):
            await self.at.room.retry_task(row.id)

    async def _reload(self) -> None:
        self.page = Page(self.at)

    async def _full(self) -> None:
        """The disk is full for a while."""
        if self._is_full:
            return
        self._is_full = True
        self.at.freeze()
        await anyio.sleep(self._random.random() * LONGEST_FULL)
        self.at.freeze(False)
        await anyio.sleep(SAVE_AGAIN + 0.5)
        self._is_full = False

    async def _switch_off(self) -> None:
        """A member is switched off, or on again, whatever it is at."""
        file = self.at.folder.agents / f"{self._random.choice(GUESTS)}.md"
        if file.exists():
            file.unlink()
        else:
            file.write_text("---\ndisabled: true\n---\n")

    def _asking(self) -> list[MessageRow]:
        return self._open_ones("approval")

    def _forms(self) -> list[MessageRow]:
        return self._open_ones("form")

    def _open_ones(self, kind: str) -> list[MessageRow]:
        rows = self.at.room.list_messages()
        return [row for row in rows if row.kind == kind and row.state == "streaming"]

    def _one(self, there: list[Any]) -> Any:
        return self._random.choice(there) if there else None

    # What there is

    def _see(self, look: Look) -> None:
        if not self._killed and not self._is_full:
            store, conversation = self.at.store, self.at.room.id
            self.seen = Seen(
                self.at.room.list_messages(limit=100_000),
                turns.list_turns(store, conversation, 100_000),
                tasks.list_tasks(store, conversation, limit=100_000),
            )
            look(self)

    def queued(self) -> list[QueuedRow]:
        return queue.list_queued(self.at.store, self.at.room.id)

    def team(self) -> set[str]:
        return {"commander", *(agent.id for agent in list_agents(self.at.folder) if agent.is_ready)}

    # The process

    @asynccontextmanager
    async def _open(self, conversation: str | None) -> AsyncIterator[House]:
        disk = OnWrite(b"", self._wrote)
        monotonic = self.clock.monotonic

        class OnDisk(Members):
            async def open_session(self, row: SessionRow) -> JsonlSession:
                return await JsonlSession.open(self._folder.root / row.path, disk=disk, monotonic=monotonic)

        async with house(
            self._root, self.minds, self.clock, conversation, new_id=self._new_id, make_members=OnDisk
        ) as self.at:
            self.at.store.database._sqlite.driver.set_trace_callback(self._database_writes)
            if conversation is None:
                access = self._random.choice(("standard", "cautious"))
                conversations.choose_access(self.at.store, self.at.room.id, access)
            self.page, self._is_full = Page(self.at), False
            yield self.at

    def _new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}_{self._ids:08}"

    def _database_writes(self, statement: str) -> None:
        if statement.startswith("BEGIN"):
            self._wrote()

    def _wrote(self) -> None:
        if self._kill_in is not None:
            self._kill_in -= 1
            if self._kill_in <= 0:
                self._kill()

    def _kill(self) -> None:
        """What the disk holds at this moment is all that is left."""
        self._kill_in = None
        self._killed, self.minds.is_heard = True, False
        self.story.append(f"{self._loop.time():7.2f} killed")
        for name in ("data", "work"):
            shutil.copytree(self._root / name, self._root / "left" / name)

    def _go_on_from_the_crash(self) -> None:
        if not self._killed:
            return
        self._killed, self.minds.is_heard = False, True
        for name in ("data", "work"):
            shutil.rmtree(self._root / name)
            (self._root / "left" / name).rename(self._root / name)
        self.minds.hanging = 0


USER_ACTS = {
    "post": 8,
    "steer": 4,
    "send_now": 2,
    "delete": 1,
    "stop": 1,
    "stop_one": 2,
    "decide": 7,
    "fill_in": 5,
    "take_back": 2,
    "resume": 4,
    "try_again": 2,
    "reload": 1,
    "switch_off": 1,
    "full": 1,
    "restart": 1,
}


@dataclass(frozen=True)
class Seen:
    """All there is at one moment."""

    rows: list[MessageRow]
    turns: list[TurnRow]
    tasks: list[TaskRow]


class Page:
    """What a page shows that was loaded once and has followed the room since."""

    def __init__(self, at: House) -> None:
        self._at = at
        self.rows: dict[str, MessageRow] = {}
        self._seen = 0
        self._load()

    def follow(self) -> None:
        happened = self._at.room.feed.since(self._seen)
        if happened is None:
            self._load()
            return
        for number, event in happened:
            self._seen = number
            id = event.message_id or ""
            match event.event:
                case LogReordered():
                    self._load()
                    return
                case RowAdded() if self._at.room.has_unstored:
                    self._load()
                    return
                case RowAdded():
                    assert id not in self.rows, "an article is told of twice"
                    self._draw(id)
                case RowChanged():
                    assert id in self.rows, "an article has changed that no page has"
                    self._draw(id)
                case _:
                    pass

    def _load(self) -> None:
        self.rows = {row.id: row for row in self._at.room.list_messages(limit=100_000)}
        self._seen = self._at.room.feed.number

    def _draw(self, id: str) -> None:
        row = self._at.room.find_message(id)
        assert row is not None
        self.rows[id] = row


@cache
def empty_folder() -> tempfile.TemporaryDirectory[str]:
    """A data folder as it is after the first start; it is gone when the tests have ended."""
    folder = tempfile.TemporaryDirectory()
    open_database(DataFolder(Path(folder.name)).create(), SystemClock()).close()
    return folder


def live(request: pytest.FixtureRequest, make: type[TeamWorld], look: Look, then: Look) -> None:
    """As many lives as ``--rooms`` says, or that of ``--room``; ``look`` at each while it goes on, ``then`` back at it.

    What is wrong is raised, with the story of the life and the command that lives it again.
    """
    only, rooms = request.config.getoption("--room"), request.config.getoption("--rooms")
    for seed in range(rooms) if only is None else (only,):
        with own_time(Random(seed + 2)) as (loop, root):
            world = make(seed, loop, root, look, then)
            try:
                loop.run_until_complete(world.live())
            except BaseException as wrong:
                test = f"{request.path} -k {request.node.name}"
                wrong.add_note("\n".join(world.story))
                wrong.add_note(f"Again: .venv/bin/python -m pytest -q -p no:playwright {test} --room {seed}")
                raise


@contextmanager
def own_time(random: Random) -> Iterator[tuple[VirtualLoop, Path]]:
    """A loop on which time is its own, and a folder with an empty data folder in it, whose disk costs nothing."""
    with virtual_loop(random) as loop, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        with tempfile.TemporaryDirectory() as root:
            shutil.copytree(empty_folder().name, Path(root) / "data")
            yield loop, Path(root)
