"""A room for tests: a real store and real files in a temporary folder, and a model that follows a script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from app.engine.harness import Harness
from app.engine.scripted import ScriptedModel
from app.engine.session import JsonlSession
from app.group_chat.bus import Bus
from app.group_chat.events import RoomEvent
from app.group_chat.members import Members
from app.group_chat.outside import NOTHING_OUTSIDE, Outside
from app.group_chat.room import Room
from app.hands.machine import FoundConfinement, Machine
from app.hands.permissions.confinement import Confinement, Mechanism
from app.infra.clock import Clock, SystemClock
from app.infra.files import SystemDisk
from app.infra.ids import NewId, new_id
from app.infra.paths import DataFolder
from app.models.database import open_database
from app.workspace import conversations, messages, sessions
from app.workspace.rows import MessageRow, SessionRow
from app.workspace.store import Store
from tests.fakes.machine import unconfined


@dataclass
class House:
    """An open data folder with one conversation in it."""

    store: Store
    bus: Bus
    room: Room
    folder: DataFolder
    workspace: Path
    members: Members

    def rows(self) -> list[MessageRow]:
        return messages.list_messages(self.store, self.room.id)

    def shape(self) -> list[tuple[str, str, str]]:
        """Kind, state and text (or what stands for it) of every article."""
        return [
            (row.kind, row.state, row.text or str(row.data.get("notice", row.data.get("name", ""))))
            for row in self.rows()
        ]

    def happened(self) -> list[RoomEvent]:
        return [event for _, event in self.room.feed.since(0) or []]

    async def say(self, text: str, **more: str) -> None:
        """Send and wait until all is quiet."""
        await self.room.post(text, client_id=more.pop("client_id", new_id("said")))
        await self.quiet()

    async def quiet(self) -> None:
        with anyio.fail_after(10):
            await self.room.wait_quiet()

    async def session(self) -> JsonlSession:
        """The history of Commander as it lies on the disk."""
        row = sessions.session_of(self.store, self.room.id, "commander")
        return await JsonlSession.open(self.folder.root / row.path)

    def freeze(self, frozen: bool = True) -> None:
        """From now on the database takes no change, as on a disk that is full or has become read-only."""
        self.store.database._sqlite.sql(f"PRAGMA query_only = {int(frozen)}")


MakeMembers = Callable[[Store, DataFolder, Harness, Machine], Members]


class OnWrite(SystemDisk):
    """Calls ``heard``, in the writing thread, when certain words have been written; then they become durable."""

    def __init__(self, words: bytes, heard: Callable[[], object]) -> None:
        self._words = words
        self._heard = heard
        self._waits = False

    def write(self, descriptor: int, data: bytes) -> int:
        self._waits = self._words in data
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        if self._waits:
            self._waits = False
            self._heard()


def members_on(disk: SystemDisk) -> MakeMembers:
    """Members whose sessions lie on that disk."""

    class OnDisk(Members):
        async def open_session(self, row: SessionRow) -> JsonlSession:
            return await JsonlSession.open(self._folder.root / row.path, disk=disk)

    return OnDisk


def members_confined(mechanism: Mechanism, outside: Outside = NOTHING_OUTSIDE) -> MakeMembers:
    """Members whose commands that mechanism confines."""

    async def found() -> Confinement:
        return Confinement(mechanism)

    def make(store: Store, folder: DataFolder, harness: Harness, machine: Machine) -> Members:
        confined = replace(machine, confinement=FoundConfinement(found))
        return Members(store, folder, harness, confined, outside=outside)

    return make


@asynccontextmanager
async def house(
    tmp_path: Path,
    model: ScriptedModel,
    clock: Clock | None = None,
    conversation: str | None = None,
    *,
    new_id: NewId = new_id,
    make_members: MakeMembers = Members,
) -> AsyncIterator[House]:
    """Open the folder below ``tmp_path``, the same one again after a crash or a restart."""
    workspace = tmp_path / "work"
    workspace.mkdir(exist_ok=True)
    folder = DataFolder(tmp_path / "data").create()
    database = open_database(folder, clock or SystemClock())
    store = Store(database, clock or SystemClock(), new_id)
    harness = Harness(model, store.clock, new_id, lambda: 0.5)
    members = make_members(store, folder, harness, unconfined(folder, store.clock))
    try:
        async with anyio.create_task_group() as tasks:
            bus = Bus(store, members, tasks.start_soon)
            await bus.recover()
            if conversation is None:
                conversation = conversations.create_conversation(store, workspace=str(workspace)).id
            yield House(store, bus, bus.room(conversation), folder, workspace, members)
            await bus.stop_all()
    finally:
        database.close()
