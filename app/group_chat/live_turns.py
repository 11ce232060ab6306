"""The turns of one room while they run: begun, followed to their ends, stored, stopped together.

One at most answers the user; below it the members work whom it has sent. Everything but ``stop`` and ``wait`` is called
under the room's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Protocol

import anyio

from app.engine.events import Done
from app.group_chat.board import Board
from app.group_chat.errands import Errand, Part
from app.group_chat.events import LogReordered, RowChanged
from app.group_chat.keeping import KeepingBoard
from app.group_chat.members import Members
from app.group_chat.quiet_board import QuietBoard
from app.group_chat.roles import WORKER
from app.group_chat.turn import LiveTurn
from app.infra.logs import failure, note
from app.models.errors import StorageError
from app.workspace import conversations, sessions, turns
from app.workspace.errors import WorkspaceError
from app.workspace.rows import MessageRow, SessionRow, TurnRow

StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], object]
"""Starts a task in the group that owns all turns."""

QUIET_WITHIN = 2.0
"""Seconds after a stop in which a turn may end by itself; then it is cancelled."""

SAVE_AGAIN = 1.0
"""Seconds between two attempts to store the end of a turn that the store did not take."""


class Followers(Protocol):
    """What a room does around the turns that run in it. All is called under its lock."""

    async def take(self, live: LiveTurn) -> None:
        """Run it; called without the lock."""
        ...

    def ended(self, live: LiveTurn, done: Done) -> Sequence[LiveTurn]:
        """In the transaction that stores the end; returns the turns that follow at once."""
        ...

    def changed(self, live: LiveTurn) -> None:
        """Somebody begins or has ended, begins to wait for the user or goes on."""
        ...

    def stored_late(self) -> None:
        """An end that the store had refused is there now."""
        ...


class LiveTurns:
    def __init__(
        self,
        board: Board,
        members: Members,
        lock: anyio.Lock,
        start_task: StartTask,
        room: Followers,
    ) -> None:
        self._board = board
        self._store = board.store
        self._conversation = board.conversation
        self._members = members
        self._lock = lock
        self._start_task = start_task
        self._room = room
        self._live: dict[str, LiveTurn] = {}
        self._unsaved: dict[str, LiveTurn] = {}
        """Ended, but the store does not take their end."""
        self._closing = anyio.Event()
        self._quiet = anyio.Event()
        self._quiet.set()

    @property
    def all(self) -> tuple[LiveTurn, ...]:
        """Those that run, in the order in which they began."""
        return tuple(self._live.values())

    @property
    def open(self) -> tuple[LiveTurn, ...]:
        """Those that run, and those whose end the store has not taken yet."""
        return (*self._live.values(), *self._unsaved.values())

    @property
    def root(self) -> LiveTurn | None:
        """The one that answers the user."""
        return next((live for live in self.all if live.answers_user), None)

    def of(self, member: str) -> LiveTurn | None:
        """What a member is at, whose history takes one turn at a time."""
        return next((live for live in self.all if live.row.member == member), None)

    @property
    def is_closing(self) -> bool:
        """The process ends: nothing begins any more, and what runs is cut off."""
        return self._closing.is_set()

    @property
    def boards(self) -> tuple[KeepingBoard, ...]:
        """Those that may know more than the store."""
        return tuple(live.board for live in (*self._live.values(), *self._unsaved.values()))

    def over(self, rows: list[MessageRow], *, at_end: bool) -> list[MessageRow]:
        """Stored rows as they stand now; where they are the last ones, those that are not stored yet follow."""
        for board in self.boards:
            rows = board.over(rows, at_end=at_end)
        return rows

    @property
    def has_unstored(self) -> bool:
        """See ``KeepingBoard``."""
        return any(board.has_unstored for board in self.boards)

    def as_now(self, rows: list[TurnRow]) -> list[TurnRow]:
        return [self._unsaved[row.id].row if row.id in self._unsaved else row for row in rows]

    def begin(
        self, member: str, *, trigger: str, part: Part = "addressed", errand: Errand | None = None
    ) -> LiveTurn:
        """Store a turn; it runs from ``go`` on. Belongs into a transaction. Raises ``TurnLive``, ``StorageError``."""
        store, conversation = self._store, self._conversation
        session = self._session_for(member, errand)
        before = turns.find_last_of_session(store, session.id)
        task = errand.task.id if errand else None
        turn = turns.start_turn(
            store, conversation, member=member, session=session.id, trigger=trigger, task=task
        )
        unseen = errand is not None and errand.is_unseen
        board = (QuietBoard if unseen else KeepingBoard)(store, conversation, self._board.feed)
        chosen = conversations.load_conversation(store, conversation).model
        return LiveTurn(
            board,
            turn,
            session,
            before,
            chosen,
            self._members.resting,
            self._room.changed,
            part=part,
            errand=errand,
        )

    def go(self, live: LiveTurn) -> None:
        self._live[live.id] = live
        if self._quiet.is_set():
            self._quiet = anyio.Event()
        self._start_task(lambda: self._take(live))
        self._room.changed(live)

    def save(self) -> None:
        """Store the ends of turns that could not be stored when they came. Raises ``StorageError``."""
        for live in list(self._unsaved.values()):
            following = self._close(live, live.end())
            del self._unsaved[live.id]
            self._room.stored_late()
            for each in following:
                self.go(each)

    async def stop(self, only: LiveTurn | None = None) -> None:
        """End every turn, or one; returns when all is quiet."""
        async with self._lock:
            stopping = [live for live in self.all if only in (None, live)]
            for live in stopping:
                live.leave() if self._closing.is_set() else live.stop()
        with anyio.move_on_after(QUIET_WITHIN):
            for live in stopping:
                await live.ended.wait()
            return
        for live in stopping:
            if not live.ended.is_set():
                live.cancel()
        for live in stopping:
            await live.ended.wait()

    async def wait_quiet(self) -> None:
        await self._quiet.wait()

    async def close(self) -> None:
        """Before the process ends: stop, and wait no longer for a store that takes nothing."""
        self._closing.set()
        await self.stop()

    async def _take(self, live: LiveTurn) -> None:
        """The task of one turn. However it ends, its place is free then; an end that is not stored is tried again."""
        try:
            await self._room.take(live)
        finally:
            with anyio.CancelScope(shield=True):
                async with self._lock:
                    self._end(live)
        while live.id in self._unsaved and not self._closing.is_set():
            with anyio.move_on_after(SAVE_AGAIN):
                await self._closing.wait()
            with suppress(StorageError, WorkspaceError):
                async with self._lock:
                    self.save()

    def _end(self, live: LiveTurn) -> None:
        """Free its place, or give it at once to those who waited for the end."""
        done = live.end()
        following: Sequence[LiveTurn] = ()
        try:
            following = self._close(live, done)
        except StorageError as error:
            failure("turn_not_stored", error, turn=live.id)
            self._unsaved[live.id] = live
        except Exception as error:  # noqa: BLE001 - it is closed before the next turn, as after a crash
            failure("turn_not_closed", error, turn=live.id)
        note("turn_ended", turn=live.id, outcome=done.status, steps=done.steps)
        self._live.pop(live.id, None)
        live.ended.set()
        for each in following:
            self.go(each)
        if not self._live:
            self._quiet.set()
        if not following:
            self._room.changed(live)

    def _close(self, live: LiveTurn, done: Done) -> Sequence[LiveTurn]:
        """Store the end. Raises ``StorageError``."""
        with self._board.together():
            for row in live.board.store_kept():
                self._board.announce(row, RowChanged())
            if live.board.has_unstored:
                self._board.publish(LogReordered(), member=live.row.member, turn=live.id)
            end = turns.end_turn(
                self._store,
                live.id,
                state=done.status,
                reason=done.reason,
                error=live.row.error,
                model=live.model,
                ended=live.row.ended,
            )
            for row in end.messages:
                self._board.announce(row, RowChanged())
            return self._room.ended(live, done)

    def _session_for(self, member: str, errand: Errand | None) -> SessionRow:
        """A worker without a name has a new one for each task, and the same again where that is taken up."""
        if errand is None or errand.task.member != WORKER:
            return sessions.session_of(self._store, self._conversation, member)
        if errand.task.turn is None:
            return sessions.new_session(self._store, self._conversation, member)
        return sessions.load_session(self._store, turns.load_turn(self._store, errand.task.turn).session)
