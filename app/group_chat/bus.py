"""All rooms of this process: the one way in for pages and commands, and the recovery at start."""

from __future__ import annotations

from contextlib import suppress
from weakref import WeakValueDictionary

import anyio

from app.group_chat.events import DeskEvent, RoomEvent
from app.group_chat.live_turns import StartTask
from app.group_chat.members import Members
from app.group_chat.plan_records import say_cut_off
from app.group_chat.recovery import name_cut_off, recover_turn
from app.group_chat.room import Room
from app.infra.feed import Feed
from app.workspace import conversations, steps, tasks, turns
from app.workspace.errors import NotFound
from app.workspace.store import Store

ROOM_EVENTS_KEPT = 4096
"""Events of a room that a follower may lag behind before it has to load the chat anew."""

ROOMS_KEPT = 32
"""Rooms that stay in memory after their last use."""

LOOKING_BACK = 3.0
"""Seconds that a start takes to see what cut off turns did to files; else it is seen before the next change."""


class Bus:
    """Rooms by conversation, and ``desk``: a feed of the conversations that look different in a list."""

    def __init__(self, store: Store, members: Members, start_task: StartTask) -> None:
        self._store = store
        self._members = members
        self._start_task = start_task
        self._rooms: WeakValueDictionary[str, Room] = WeakValueDictionary()
        self._recent: dict[str, Room] = {}
        self.desk: Feed[DeskEvent] = Feed(store.new_id("desk"), 256)

    def room(self, conversation: str) -> Room:
        """The room of a conversation. Raises ``NotFound``, also for one that was deleted."""
        if conversations.load_conversation(self._store, conversation).deleted_at is not None:
            raise NotFound("This conversation was deleted.")
        room = self._rooms.get(conversation)
        if room is None:
            feed: Feed[RoomEvent] = Feed(self._store.new_id("room"), ROOM_EVENTS_KEPT)
            room = Room(self._store, conversation, feed, self._members, self._start_task, self.changed)
            self._rooms[conversation] = room
        self._recent.pop(conversation, None)
        self._recent[conversation] = room
        if len(self._recent) > ROOMS_KEPT:
            del self._recent[next(iter(self._recent))]
        return room

    def changed(self, conversation: str) -> None:
        """A conversation looks different in the list."""
        self.desk.publish(DeskEvent(conversation))

    def live_rooms(self) -> list[Room]:
        return [room for room in self._rooms.values() if room.floor.is_live]

    async def recover(self) -> int:
        """After a start: close the turns that a crash cut off. Returns how many there were."""
        cut = turns.live_turns(self._store)
        for turn in cut:
            await recover_turn(self._store, self._members, turn)
        tasks.interrupt_tasks(self._store)
        say_cut_off(self._store)
        for turn in cut:
            name_cut_off(self._store, turn)
        with anyio.move_on_after(LOOKING_BACK):
            for conversation in {step.conversation for step in steps.open_steps(self._store)}:
                with suppress(NotFound):
                    await self.room(conversation).undoing.settle()
        return len(cut)

    async def stop_all(self) -> None:
        """Before the process ends: every run comes to its end, and what is not quiet in time is cancelled."""
        async with anyio.create_task_group() as tasks:
            for room in list(self._rooms.values()):
                tasks.start_soon(room.close)
