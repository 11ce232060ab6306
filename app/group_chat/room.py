"""One conversation as a place: its state changes one at a time, under its lock, and every turn starts here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio

from app.engine.events import Done
from app.engine.messages import Message
from app.group_chat.approvals import TOO_LATE
from app.group_chat.board import Board
from app.group_chat.errors import EmptyMessage, NothingToDecide, NothingToResume, RoomBusy
from app.group_chat.events import (
    ConversationChanged,
    Floor,
    FloorChanged,
    RoomEvent,
    RowAdded,
    RowChanged,
)
from app.group_chat.keeping import KeepingBoard
from app.group_chat.members import Members
from app.group_chat.recovery import recover_turn
from app.group_chat.roles import COMMANDER
from app.group_chat.turn import LiveTurn
from app.group_chat.undoing import Undoing
from app.group_chat.waiting import SteeredMessages, WaitingList
from app.infra.feed import Feed
from app.infra.logs import failure, note
from app.models.errors import StorageError
from app.workspace import conversations, messages, sessions, turns
from app.workspace.rows import MessageRow, QueueKind, TurnRow
from app.workspace.store import Store

StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], object]
"""Starts a task in the group that owns all turns."""

QUIET_WITHIN = 2.0
"""Seconds after a stop in which a turn may end by itself; then it is cancelled."""

SAVE_AGAIN = 1.0
"""Seconds between two attempts to store the end of a turn that the store did not take."""


class Room:
    """Post, stop, resume; follow ``feed`` to see what comes of it."""

    def __init__(
        self,
        store: Store,
        conversation: str,
        feed: Feed[RoomEvent],
        members: Members,
        start_task: StartTask,
        changed: Callable[[str], None],
    ) -> None:
        self.id = conversation
        self.feed = feed
        self.board = Board(store, conversation, feed)
        self._store = store
        self._members = members
        self._start_task = start_task
        self._changed = changed
        self._lock = anyio.Lock()
        self.waiting = WaitingList(self.board, self._lock)
        self.undoing = Undoing(
            self.board,
            lambda: members.history(conversation),
            self._at_rest,
            lambda: turns.live_turns(store),
        )
        self._live: LiveTurn | None = None
        self._unsaved: LiveTurn | None = None
        """Ended, but the store does not take its end."""
        self._closing = anyio.Event()
        self._quiet = anyio.Event()
        self._quiet.set()

    @property
    def floor(self) -> Floor:
        return self._live.floor if self._live else Floor()

    def counts_later(self, model: str | None) -> bool:
        """Whether the turn that runs began with another choice of model: this one is for the next."""
        return self._live is not None and self._live.chosen != model

    def growing(self, message_id: str) -> tuple[str, str] | None:
        """Text and thinking so far of the article that is being written; None for every other one."""
        growing = self._live.segments.growing if self._live else None
        if growing is None or growing.row_id != message_id:
            return None
        return "".join(growing.text), "".join(growing.reasoning)

    def output_of(self, message_id: str) -> str:
        """What the tool of an article has said by now, while it runs: the end of it."""
        return self._live.segments.output_of(message_id) if self._live else ""

    def find_message(self, message_id: str) -> MessageRow | None:
        """An article as it stands now; where the store takes nothing, that is more than what is stored."""
        kept = self._ahead.find_kept(message_id) if self._ahead else None
        return kept or messages.find_message(self._store, message_id)

    def list_messages(self, *, before: int | None = None, limit: int = 100) -> list[MessageRow]:
        """The last ``limit`` articles, or those just before a position, oldest first, as they stand now."""
        rows = messages.list_messages(self._store, self.id, before_position=before, limit=limit)
        return self._ahead.over(rows, at_end=before is None) if self._ahead else rows

    def list_turns(self) -> list[TurnRow]:
        """The newest turns, oldest first, as they stand now."""
        rows = turns.list_turns(self._store, self.id)
        return [self._unsaved.row if self._unsaved and row.id == self._unsaved.id else row for row in rows]

    async def read_history(self, turn_id: str) -> Sequence[Message]:
        """What the member that took a turn has in its session, of this turn and all others. Empty where it is gone.

        Raises ``NotFound``, ``SessionError``.
        """
        session = sessions.find_session(self._store, turns.load_turn(self._store, turn_id).session)
        return await self._members.read_history(session) if session else ()

    async def post(self, text: str, *, client_id: str, kind: QueueKind = "queue") -> None:
        """Send a message: at once where nobody is at work, else it waits as ``kind`` says.

        The same ``client_id`` twice counts once. Raises ``EmptyMessage``, ``NotFound``.
        """
        if not text.strip():
            raise EmptyMessage("There is nothing to send. Write a message first.")
        async with self._lock:
            if not await self._is_free():
                self.waiting.add(text, client_id, kind)
            elif not self._knows(client_id):
                with self.board.together():
                    row = messages.add_message(
                        self._store, self.id, kind="user", member="user", text=text, client_id=client_id
                    )
                    self.board.announce(row, RowAdded())
                    if row.position == 1:
                        self.board.publish(ConversationChanged(), member="user")
                    turn = self._begin(trigger=row.id)
                self._go(turn)

    async def send_now(self, queued_id: str) -> None:
        """A waiting message goes first: into the running turn, or as the next one. Raises ``NotFound``."""
        async with self._lock:
            self.waiting.load(queued_id)
            if await self._is_free():
                with self.board.together():
                    turn = self._send([queued_id])
                self._go(turn)
            else:
                self.waiting.steer(queued_id)

    async def stop(self) -> None:
        """End every run of the room and hold what waits; returns when all is quiet."""
        async with self._lock:
            live = self._live
            if live is None:
                return
            live.stop()
        with anyio.move_on_after(QUIET_WITHIN):
            await live.ended.wait()
            return
        live.cancel()
        await live.ended.wait()

    def hurry(self) -> bool:
        """Wait no longer for a model that is busy, but ask it again; whether anybody waited."""
        return self._live is not None and self._live.hurry.now()

    async def decide(self, approval_id: str, decision: str, reason: str = "", rule: int = 0) -> None:
        """Answer what a call waits for. Raises ``NothingToDecide``, ``UnknownDecision``, ``StorageError``."""
        if self._live is None:
            raise NothingToDecide(TOO_LATE)
        await self._live.decide(approval_id, decision, reason, rule)

    async def resume(self) -> None:
        """Continue an interrupted turn, or try a failed one again. Raises ``NothingToResume``, ``RoomBusy``."""
        async with self._lock:
            if not await self._is_free():
                raise RoomBusy("A turn is running already. Wait for its end, or stop it first.")
            last = turns.find_last_turn(self._store, self.id)
            if last is None or last.state == "completed":
                raise NothingToResume("There is nothing to continue: the last turn ended as it should.")
            with self.board.together():
                turn = self._begin(trigger="retry" if last.state == "failed" else "continue")
            self._go(turn)

    def tell_conversation(self) -> None:
        """Title, model, folder or sums were changed; whoever shows them draws them anew."""
        self.board.publish(ConversationChanged(), member="user")
        self._changed(self.id)

    async def wait_quiet(self) -> None:
        await self._quiet.wait()

    async def close(self) -> None:
        """Before the process ends: stop, and wait no longer for a store that takes nothing."""
        self._closing.set()
        await self.stop()

    @property
    def _ahead(self) -> KeepingBoard | None:
        """The board that may know more than the store."""
        turn = self._live or self._unsaved
        return turn.board if turn else None

    @asynccontextmanager
    async def _at_rest(self) -> AsyncIterator[None]:
        """A block in which no turn runs here or begins. Raises ``RoomBusy``."""
        async with self._lock:
            if not await self._is_free():
                raise RoomBusy("A turn is running. Stop it or wait for its end, then undo.")
            yield

    # All that follows is called under the lock.

    async def _is_free(self) -> bool:
        """Whether nobody is at work. A turn whose end is not stored is closed first. Raises ``StorageError``."""
        if self._live is None:
            self._save()
        if self._live is not None:
            return False
        for turn in turns.live_turns(self._store, self.id):
            for row, change in await recover_turn(self._store, self._members, turn):
                self.board.announce(row, change)
        return True

    def _begin(self, *, trigger: str) -> LiveTurn:
        """Store a turn of Commander; it runs from ``_go`` on."""
        last = turns.find_last_turn(self._store, self.id)
        session = sessions.session_of(self._store, self.id, COMMANDER)
        turn = turns.start_turn(self._store, self.id, member=COMMANDER, session=session.id, trigger=trigger)
        if last is not None:
            self._settle_trouble(last)
        board = KeepingBoard(self._store, self.id, self.feed)
        chosen = conversations.load_conversation(self._store, self.id).model
        waits = partial(self._changed, self.id)
        return LiveTurn(board, turn, session, last, chosen, self._members.resting, waits)

    def _go(self, live: LiveTurn) -> None:
        self._start_task(lambda: self._take_turn(live))
        self._live = live
        if self._quiet.is_set():
            self._quiet = anyio.Event()
        self._tell_floor()

    async def _take_turn(self, live: LiveTurn) -> None:
        """The task of one turn. However it ends, the room is free then; an end that is not stored is tried again."""
        try:
            steering = SteeredMessages(self.board, live.id, self._lock)
            await live.run(self._members, steering, self.undoing)
        finally:
            with anyio.CancelScope(shield=True):
                async with self._lock:
                    self._end(live)
        while self._unsaved is live and not self._closing.is_set():
            with anyio.move_on_after(SAVE_AGAIN):
                await self._closing.wait()
            with suppress(StorageError):
                async with self._lock:
                    self._save()

    def _end(self, live: LiveTurn) -> None:
        """Free the floor, or give it at once to those who waited for the end."""
        done, following = live.end(), None
        try:
            following = self._close(live, done)
        except StorageError as error:
            failure("turn_not_stored", error, turn=live.id)
            self._unsaved = live
        except Exception as error:  # noqa: BLE001 - it is closed before the next turn, as after a crash
            failure("turn_not_closed", error, turn=live.id)
        note("turn_ended", turn=live.id, outcome=done.status, steps=done.steps)
        self._live = None
        live.ended.set()
        if following is not None:
            self._go(following)
        else:
            self._quiet.set()
            self._tell_floor()

    def _save(self) -> None:
        """Store the end of a turn that could not be stored when it came. Raises ``StorageError``."""
        live = self._unsaved
        if live is None:
            return
        following = self._close(live, live.end())
        self._unsaved = None
        self.tell_conversation()
        if following is not None:
            self._go(following)

    def _close(self, live: LiveTurn, done: Done) -> LiveTurn | None:
        """Store the end. What waited for it becomes the next turn, or is held where it did not end well."""
        with self.board.together():
            for row in live.board.store_kept():
                self.board.announce(row, RowChanged())
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
                self.board.announce(row, RowChanged())
            waiting = self.waiting.due()
            if waiting and done.status == "completed" and not live.abort.is_set:
                return self._send(waiting)
            if waiting:
                self.waiting.hold()
        return None

    def _send(self, queued_ids: Sequence[str]) -> LiveTurn:
        """Waiting messages become messages, all together, and are answered by one turn."""
        rows = self.waiting.send(queued_ids)
        return self._begin(trigger=rows[-1].id)

    def _settle_trouble(self, last: TurnRow) -> None:
        """A new turn has begun: the last one's notices offer nothing any more."""
        for row in messages.list_of_turn(self._store, last.id):
            if row.kind in ("notice", "error") and not row.data.get("settled"):
                self.board.change(row.id, data={**row.data, "settled": True})

    def _knows(self, client_id: str) -> bool:
        return messages.find_sent(self._store, self.id, client_id) is not None or self.waiting.has(client_id)

    def _tell_floor(self) -> None:
        self.board.publish(FloorChanged(), member=self.floor.member, turn=self.floor.turn)
        self._changed(self.id)
