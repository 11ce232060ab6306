"""One room under everything that can happen to it, in any order: what was acknowledged is never lost nor doubled.

A user acts, several times at once; a model is held at each piece of its answer; the process dies at some write and
goes on from what the disk held then. After each step, when the room waits for its model or for nobody, all that has
to be true of chat, queue, session and turns is looked at.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.engine.errors import ProviderError
from app.engine.events import Done
from app.engine.messages import Message
from app.engine.pairing import is_paired
from app.engine.provider import CallFragment, ModelRequest, Stop, StreamBatch, TextChunk
from app.engine.scripted import ScriptedModel, call
from app.group_chat.errors import RoomError
from app.models.errors import StorageError
from app.prompts.rendering import compose
from app.workspace import conversations, messages, queue, turns
from app.workspace.errors import NotFound
from app.workspace.rows import MessageRow, QueuedRow, TurnRow
from tests.fakes.clock import FakeClock
from tests.group_chat.rooms import House, OnWrite, house, members_on

Act = tuple[str, int]
"""What a user does, and to which message (counted over all there are)."""

GO_ON = compose("go_on", outcomes=()).strip()
USER_ACTS = st.tuples(
    st.sampled_from(
        (
            *("post", "steer", "steer", "send_now", "resume", "resume"),
            *("again", "edit", "edit", "delete", "up", "down", "stop"),
        )
    ),
    st.integers(0, 4),
)
ON_THE_QUEUE = ("edit", "delete", "up", "down", "send_now")

MODEL_ACTS = st.sampled_from(("text", "text", "read", "write", "end", "end", "cut", "down", "refuse"))

MOMENTS = st.sampled_from((0, 1, 2, 3, 4, 5, 6, 8))
"""How many writes go by before the user acts."""

CRASHES = st.sampled_from((*[None] * 40, 1, 2, 3, 4, 5, 7, 9, 12))
"""How many writes go by before the process dies."""

FULL_DISKS = st.sampled_from((*[None] * 30, 1, 2, 3, 4))
"""How many writes go by before the store takes nothing any more, for the rest of the step."""

PAUSE = 1.2
"""Seconds of the room's own clock between two pieces, so that a growing text is saved now and then."""

LONGEST_QUIET = 600.0
"""Seconds of the room's own clock in which it has to become quiet, whatever has happened."""


class Puppet(ScriptedModel):
    """A model that says nothing by itself: each piece comes from ``inbox``."""

    def __init__(self) -> None:
        super().__init__()
        self.inbox: list[StreamBatch | ProviderError | None] = []
        self.listens = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamBatch, None]:
        while True:
            while not self.inbox:
                self.listens = True
                try:
                    await asyncio.sleep(0.0005)
                finally:
                    self.listens = False
            piece = self.inbox.pop(0)
            if piece is None:
                return
            if isinstance(piece, ProviderError):
                raise piece
            yield piece
            if isinstance(piece[-1], Stop):
                return


@dataclass
class Said:
    """One message of the user, as far as the user was told."""

    text: str
    acknowledged: bool = False
    asked: list[str] = field(default_factory=list)
    """Texts that it may have besides: what was asked for is not answered yet."""
    deletes: int = 0
    """Asked for, or done."""

    @property
    def texts(self) -> set[str]:
        return {self.text, *self.asked}


class Moment:
    """A moment in the middle of things: before or after a write, ``after`` so many of them."""

    def __init__(self, after: int, do: Callable[[], object]) -> None:
        self._left = after
        self._do = do

    def wrote(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._do()


@dataclass
class Crash:
    """The disk at the worst moment, and what the user had been told by then."""

    folder: Path
    said: dict[str, Said]


class World:
    """A room, its user and its model, on a loop of their own."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.clock = FakeClock()
        self.said: dict[str, Said] = {}
        self.model = Puppet()
        self.crash: Crash | None = None
        self.moments: list[Moment] = []
        self.pieces = 0
        self.revision = 0
        self._loop = asyncio.new_event_loop()
        (self.root / "first").mkdir()
        self._open(self.root / "first", None)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self._loop.run_until_complete(work)

    def _open(self, folder: Path, conversation: str | None) -> None:
        opened: asyncio.Future[House] = self._loop.create_future()
        self._leave = asyncio.Event()
        disk = OnWrite(b"", self._wrote)

        async def host() -> None:
            async with house(
                folder, self.model, self.clock, conversation, make_members=members_on(disk)
            ) as at:
                opened.set_result(at)
                await self._leave.wait()

        self._host = self._loop.create_task(host())
        self._loop.run_until_complete(asyncio.wait([self._host, opened], return_when="FIRST_COMPLETED"))
        self.at = opened.result() if opened.done() else self._loop.run_until_complete(self._host)
        self.at.store.database._sqlite.driver.set_trace_callback(self._database_writes)

    def _database_writes(self, statement: str) -> None:
        if statement.startswith("BEGIN"):
            self._wrote()

    def _wrote(self) -> None:
        for moment in self.moments:
            moment.wrote()

    def close(self) -> None:
        self._leave.set()
        self._loop.run_until_complete(self._host)

    def end(self) -> None:
        self.close()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()
        shutil.rmtree(self.root)

    def copy(self) -> None:
        """This is what the disk would hold if the process died now."""
        if self.crash is not None:
            return
        folder = Path(tempfile.mkdtemp(dir=self.root))
        # No write may be half copied: a real disk has it whole or not at all.
        with self.at.store.database._lock:
            self.crash = Crash(folder, deepcopy(self.said))
            shutil.copytree(self.at.folder.root, folder / "data")
            shutil.copytree(self.at.workspace, folder / "work")

    def die(self) -> None:
        """Go on from what the disk held at the crash, now if there was none yet."""
        self.copy()
        crash, conversation = self.crash, self.at.room.id
        assert crash is not None
        self.moments.clear()
        self.close()
        self.said, self.crash, self.revision = crash.said, None, 0
        self.model.inbox.clear()
        self._open(crash.folder, conversation)

    def freeze_soon(self) -> None:
        """Between two transactions, as no disk is full in the middle of one that it takes."""
        self._loop.call_soon_threadsafe(self.at.freeze)

    async def recover(self) -> None:
        """The disk has room again; the user's next act finds out."""
        self.at.freeze(False)
        await self.act_together([("resume", 0)])
        await self.settle()

    async def settle(self, now: threading.Event | None = None) -> None:
        """Until the room waits for its model, or for nobody; or until ``now`` has come."""
        with anyio.fail_after(20):
            while self.at.room.floor.is_live and not (self.model.listens and not self.model.inbox):
                if now is not None and now.is_set():
                    return
                await asyncio.sleep(0.0003)

    # The user

    async def act_together(self, acts: list[Act]) -> None:
        await asyncio.gather(*map(self._act, acts))

    async def _act(self, act: Act) -> None:
        name, number = act
        if name in ON_THE_QUEUE and not self.queued():
            name = "post" if number % 2 else "steer"
        try:
            await getattr(self, f"_{name}")(number)
        except (RoomError, NotFound, StorageError):
            pass  # refused in words: nothing was changed, which is what the invariants look at

    async def _post(self, number: int, kind: str = "queue") -> None:
        client_id = f"c{len(self.said)}"
        self.said[client_id] = Said(f"text of {client_id}")
        await self.at.room.post(self.said[client_id].text, client_id=client_id, kind=kind)  # type: ignore[arg-type]
        self.said[client_id].acknowledged = True

    async def _steer(self, number: int) -> None:
        await self._post(number, "steer")

    async def _again(self, number: int) -> None:
        """The same message once more, as a page sends it that has lost its line."""
        if self.said:
            client_id = sorted(self.said)[number % len(self.said)]
            said, text = self.said[client_id], f"text of {client_id}"
            if said.deletes:
                said.asked.append(text)  # it begins anew
            await self.at.room.post(text, client_id=client_id)
            said.acknowledged = True

    async def _edit(self, number: int) -> None:
        row = self._queued(number)
        said, text = self.said[row.client_id], f"{row.text}, or rather {number}"
        said.asked.append(text)
        try:
            await self.at.room.waiting.edit(row.id, text)
            said.text = text
        finally:
            said.asked.remove(text)

    async def _delete(self, number: int) -> None:
        row = self._queued(number)
        said = self.said[row.client_id]
        said.deletes += 1
        try:
            await self.at.room.waiting.delete(row.id)
        except NotFound:
            said.deletes -= 1
            raise

    async def _up(self, number: int) -> None:
        await self.at.room.waiting.move(self._queued(number).id, -1)

    async def _down(self, number: int) -> None:
        await self.at.room.waiting.move(self._queued(number).id, 1)

    async def _send_now(self, number: int) -> None:
        await self.at.room.send_now(self._queued(number).id)

    async def _stop(self, number: int) -> None:
        await self.at.room.stop()

    async def _resume(self, number: int) -> None:
        await self.at.room.resume()

    def _queued(self, number: int) -> QueuedRow:
        rows = self.queued()
        if not rows:
            raise NotFound("Another act of the same moment has taken it.")
        return rows[number % len(rows)]

    # The model

    def say(self, pieces: Sequence[str]) -> None:
        """Give the model more to say, where it is asked."""
        if self.at.room.floor.is_live:
            for name in pieces:
                self._piece(name)

    def _piece(self, name: str) -> None:
        self.pieces += 1
        self.clock._passed += PAUSE
        pieces: dict[str, Callable[[], list[StreamBatch | ProviderError | None]]] = {
            "text": lambda: [(TextChunk(f"piece {self.pieces} "),)],
            "read": lambda: [(call("list_files", f"c{self.pieces}", path="."),), (Stop("tool_calls"),)],
            "write": lambda: [(self._write(),), (Stop("tool_calls"),)],
            "end": lambda: [(Stop("end"),)],
            "cut": lambda: [None],
            "down": lambda: [ProviderError("server", "The server is down.")],
            "refuse": lambda: [ProviderError("auth", "The key was refused.")],
        }
        self.model.inbox += pieces[name]()

    def _write(self) -> CallFragment:
        return call("write_file", f"c{self.pieces}", path=f"{self.pieces}.txt", content="x")

    # What there is

    def queued(self) -> list[QueuedRow]:
        return queue.list_queued(self.at.store, self.at.room.id)

    def look(self) -> Seen:
        store, conversation = self.at.store, self.at.room.id
        return Seen(
            rows=messages.list_messages(store, conversation, limit=10_000),
            queued=self.queued(),
            heard=list(self._loop.run_until_complete(self.at.session()).messages),
            turns=turns.list_turns(store, conversation, 10_000),
            revision=conversations.load_conversation(store, conversation).revision,
        )


@dataclass(frozen=True)
class Seen:
    """All there is at one moment."""

    rows: list[MessageRow]
    queued: list[QueuedRow]
    heard: list[Message]
    turns: list[TurnRow]
    revision: int

    @property
    def running(self) -> list[str]:
        return [turn.id for turn in self.turns if turn.state == "running"]

    @property
    def last(self) -> TurnRow | None:
        return self.turns[-1] if self.turns else None


class Simulation(RuleBasedStateMachine):
    """The order of events is Hypothesis's to choose."""

    @initialize()
    def open(self) -> None:
        self.world = World()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            try:
                self._becomes_quiet()
            finally:
                self.world.end()

    @rule(
        pieces=st.lists(MODEL_ACTS, min_size=1, max_size=4),
        after=MOMENTS,
        acts=st.lists(USER_ACTS, max_size=3),
        full=FULL_DISKS,
        crash=CRASHES,
    )
    def happens(
        self, pieces: list[str], after: int, acts: list[Act], full: int | None, crash: int | None
    ) -> None:
        """The model says something; ``after`` some writes the user acts, all at once; or worse happens meanwhile."""
        world = self.world
        if crash is not None:
            world.moments.append(Moment(crash, world.copy))
        if full is not None:
            world.moments.append(Moment(full, world.freeze_soon))
        world.run(self._happens(pieces, after, acts))
        world.moments.clear()
        if crash is not None:
            world.die()
        elif full is not None:
            world.run(world.recover())

    async def _happens(self, pieces: list[str], after: int, acts: list[Act]) -> None:
        world = self.world
        if world.at.room.floor.is_live:
            now = threading.Event()
            world.moments.append(Moment(after, now.set))
            world.say(pieces)
            await world.settle(now)
            await world.act_together(acts)
        else:
            await world.act_together(acts)
            await world.settle()
            world.say(pieces)
        await world.settle()

    @invariant()
    def all_is_well(self) -> None:
        if hasattr(self, "world"):
            seen = self.world.look()
            self._every_acknowledged_text_is_there_once(seen)
            self._the_session_is_paired_and_has_each_message_once(seen)
            self._chat_and_session_say_the_same(seen)
            self._at_most_one_turn_runs_and_nothing_spins_without_it(seen)
            self._every_message_has_a_turn_or_is_held(seen)
            self._every_turn_ends_once()
            self._positions_times_and_revisions_rise(seen)

    def _every_acknowledged_text_is_there_once(self, seen: Seen) -> None:
        said = self.world.said
        there = [*(row for row in seen.rows if row.kind == "user"), *seen.queued]
        count = Counter(row.client_id for row in there)
        assert all(count[id] <= 1 for id in count)
        assert all(count[id] or one.deletes or not one.acknowledged for id, one in said.items())
        assert all(row.text in said[row.client_id or ""].texts for row in there)

    def _the_session_is_paired_and_has_each_message_once(self, seen: Seen) -> None:
        assert is_paired(seen.heard, open_end=bool(seen.running))
        assert len({message.id for message in seen.heard}) == len(seen.heard)
        assert not {message.id for message in seen.heard} & {row.id for row in seen.queued}

    def _chat_and_session_say_the_same(self, seen: Seen) -> None:
        """What is in both is equal; what the chat shows of earlier turns is known to the model."""
        chat, known = {row.id: row for row in seen.rows}, {message.id for message in seen.heard}
        for message in seen.heard:
            if message.role != "tool" and message.text and message.text != GO_ON:
                row = chat[message.id]
                assert row.state == "streaming" or row.text == message.text
        for row in seen.rows:
            earlier = seen.last is not None and row.turn not in (None, seen.last.id)
            assert row.id in known or not (earlier and row.kind in ("user", "assistant") and row.text.strip())

    def _at_most_one_turn_runs_and_nothing_spins_without_it(self, seen: Seen) -> None:
        floor = self.world.at.room.floor
        assert seen.running == ([floor.turn] if floor.is_live else [])
        assert floor.is_live or not [row for row in seen.rows if row.state == "streaming"]

    def _every_message_has_a_turn_or_is_held(self, seen: Seen) -> None:
        """After a crash what waits goes on waiting for the end of a turn; else every end sends it or holds it."""
        sent = [row.id for row in seen.rows if row.kind == "user" and row.turn is None]
        assert not sent or sent[-1] in {turn.trigger for turn in seen.turns}
        if not seen.running and (seen.last is None or seen.last.reason != "crash"):
            assert all(row.kind == "held" for row in seen.queued)

    def _every_turn_ends_once(self) -> None:
        at = self.world.at
        ends = Counter(place.turn for place in at.happened() if isinstance(place.event, Done))
        assert all(count == 1 for count in ends.values())
        assert at.room.floor.turn not in ends

    def _positions_times_and_revisions_rise(self, seen: Seen) -> None:
        assert [row.position for row in seen.rows] == list(range(1, len(seen.rows) + 1))
        times = [row.created for row in seen.rows]
        assert times == sorted(set(times))
        revisions = {row.revision for row in seen.rows}
        assert len(revisions) == len(seen.rows)
        assert max(revisions, default=0) <= seen.revision
        assert seen.revision >= self.world.revision
        self.world.revision = seen.revision

    def _becomes_quiet(self) -> None:
        """Whatever has happened: once the model answers, all that waits is answered or held."""
        world = self.world
        world.moments.clear()
        began = world.clock.monotonic()

        async def work() -> None:
            for _ in range(20):
                await world.settle()
                world.say(("text", "end"))

        world.run(work())
        assert not world.at.room.floor.is_live
        assert world.clock.monotonic() - began < LONGEST_QUIET


TestSimulation = Simulation.TestCase
TestSimulation.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
