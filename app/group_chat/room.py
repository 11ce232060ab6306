"""One conversation as a place: its state changes one at a time, under its lock, and every turn starts here."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import anyio

from app.engine.errors import SessionError
from app.engine.events import Done
from app.engine.steering import UserInput
from app.group_chat.board import Board
from app.group_chat.errors import EmptyMessage, NothingToResume, RoomBusy, RoomError
from app.group_chat.events import (
    ConversationChanged,
    Floor,
    FloorChanged,
    QueueChanged,
    RoomEvent,
    RowAdded,
    RowChanged,
)
from app.group_chat.members import COMMANDER, Members
from app.group_chat.turn import LiveTurn
from app.group_chat.visibility import unheard
from app.group_chat.waiting import SteeredMessages
from app.infra.feed import Feed
from app.infra.logs import note
from app.workspace import conversations, messages, queue, sessions, turns
from app.workspace.rows import QueuedRow, QueueKind, SessionRow, TurnRow
from app.workspace.store import Store

StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], object]
"""Starts a task in the group that owns all turns."""

QUIET_WITHIN = 2.0
"""Seconds after a stop in which a turn may end by itself; then it is cancelled."""

GO_ON = (
    "Go on from where you stopped. What was done before the interruption is done: check before repeating it."
)
"""What a model is told when the user presses Continue; the page shows no message for it."""


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
        self._live: LiveTurn | None = None
        self._scope: anyio.CancelScope | None = None
        self._quiet = anyio.Event()
        self._quiet.set()

    @property
    def floor(self) -> Floor:
        return self._live.floor if self._live else Floor()

    def growing(self, message_id: str) -> tuple[str, str] | None:
        """Text and thinking so far of the article that is being written; None for every other one."""
        growing = self._live.segments.growing if self._live else None
        if growing is None or growing.row_id != message_id:
            return None
        return "".join(growing.text), "".join(growing.reasoning)

    async def post(self, text: str, *, client_id: str, kind: QueueKind = "queue") -> None:
        """Send a message: at once where nobody is at work, else it waits as ``kind`` says.

        The same ``client_id`` twice counts once. Raises ``EmptyMessage``, ``NotFound``.
        """
        if not text.strip():
            raise EmptyMessage("There is nothing to send. Write a message first.")
        async with self._lock:
            if self._live is not None:
                queue.enqueue(self._store, self.id, text=text, client_id=client_id, kind=kind)
                self._tell_queue()
                return
            if messages.find_sent(self._store, self.id, client_id) is None:
                row = messages.add_message(
                    self._store, self.id, kind="user", member="user", text=text, client_id=client_id
                )
                self.board.announce(row, RowAdded())
                if row.position == 1:
                    self.board.publish(ConversationChanged(), member="user")
                self._begin(trigger=row.id)

    async def send_now(self, queued_id: str) -> None:
        """A waiting message goes first: into the running turn, or as the next one. Raises ``NotFound``."""
        async with self._lock:
            if self._live is not None:
                queue.edit_queued(self._store, queued_id, kind="steer")
                self._tell_queue()
                return
            self._send([queued_id])

    async def edit_waiting(self, queued_id: str, text: str) -> None:
        """Raises ``EmptyMessage``, ``NotFound`` where it has been sent meanwhile."""
        if not text.strip():
            raise EmptyMessage("A waiting message needs a text. Delete it instead.")
        async with self._lock:
            queue.edit_queued(self._store, queued_id, text=text)
            self._tell_queue()

    async def delete_waiting(self, queued_id: str) -> QueuedRow:
        async with self._lock:
            row = queue.delete_queued(self._store, queued_id)
            self._tell_queue()
            return row

    async def move_waiting(self, queued_id: str, steps: int) -> None:
        """Down by so many places, or up where ``steps`` is negative."""
        async with self._lock:
            order = [row.id for row in queue.list_queued(self._store, self.id)]
            place = order.index(queued_id) if queued_id in order else 0
            queue.move_queued(self._store, queued_id, place + steps)
            self._tell_queue()

    async def stop(self) -> None:
        """End every run of the room and hold what waits; returns when all is quiet."""
        async with self._lock:
            if self._live is None:
                return
            self._hold()
            self._live.stop()
            quiet, scope = self._quiet, self._scope
        with anyio.move_on_after(QUIET_WITHIN):
            await quiet.wait()
            return
        if scope is not None:
            scope.cancel()
        await quiet.wait()

    async def resume(self) -> None:
        """Continue an interrupted turn, or try a failed one again. Raises ``NothingToResume``, ``RoomBusy``."""
        async with self._lock:
            if self._live is not None:
                raise RoomBusy("A turn is running already. Wait for its end, or stop it first.")
            last = turns.find_last_turn(self._store, self.id)
            if last is None or last.state == "completed":
                raise NothingToResume("There is nothing to continue: the last turn ended as it should.")
            self._begin(trigger="retry" if last.state == "failed" else "continue")

    def tell_conversation(self) -> None:
        """Title, model or folder were changed; whoever shows them draws them anew."""
        self.board.publish(ConversationChanged(), member="user")
        self._changed(self.id)

    async def wait_quiet(self) -> None:
        await self._quiet.wait()

    def _begin(self, *, trigger: str) -> None:
        """Start a turn of Commander, from a stored row; called under the lock, and only where none is live."""
        last = turns.find_last_turn(self._store, self.id)
        session = sessions.session_of(self._store, self.id, COMMANDER)
        turn = turns.start_turn(self._store, self.id, member=COMMANDER, session=session.id, trigger=trigger)
        self._settle_trouble(last)
        self._live = LiveTurn(self.board, turn.id, turn.member)
        if self._quiet.is_set():
            self._quiet = anyio.Event()
        self._start_task(lambda: self._take_turn(turn, session))
        self._tell_floor()

    async def _take_turn(self, turn: TurnRow, row: SessionRow) -> None:
        """The task of one turn. However it ends, the room is quiet and true afterwards."""
        live = self._live
        assert live is not None
        done: Done | None = None
        try:
            with anyio.CancelScope() as self._scope:
                done = await self._run(live, turn, row)
        finally:
            with anyio.CancelScope(shield=True):
                async with self._lock:
                    self._end(live, turn, done or live.cut_off())

    async def _run(self, live: LiveTurn, turn: TurnRow, row: SessionRow) -> Done:
        conversation = conversations.load_conversation(self._store, self.id)
        try:
            session = await self._members.open_session(row)
            agent = self._members.agent(turn.member, conversation)
        except (SessionError, RoomError) as error:
            return live.fail("local", str(error))
        inputs = unheard(self._store, self.id, session.messages)
        if not inputs and turn.trigger == "continue":
            inputs = [UserInput(GO_ON, self._store.new_id("msg"))]
        done = await live.run(
            agent, session, inputs, self._members.harness, SteeredMessages(self.board, turn.id)
        )
        self._members.note(row, done, live.model)
        return done

    def _end(self, live: LiveTurn, turn: TurnRow, done: Done) -> None:
        """Close the turn. What waited for its end becomes the next one, or is held where it did not end well."""
        error = {"kind": done.error.kind, "message": done.error.message} if done.error else None
        end = turns.end_turn(
            self._store, turn.id, state=done.status, reason=done.reason, error=error, model=live.model
        )
        for row in end.messages:
            self.board.announce(row, RowChanged())
        self._live = self._scope = None
        note("turn_ended", turn=turn.id, outcome=done.status, steps=done.steps)
        waiting = [row.id for row in queue.list_queued(self._store, self.id) if row.kind != "held"]
        if done.status == "completed":
            self._send(waiting)
        elif waiting:
            self._hold()
        if self._live is None:
            self._quiet.set()
        self._tell_floor()

    def _send(self, queued_ids: Sequence[str]) -> None:
        """Waiting messages become messages, all together, and are answered by one turn."""
        rows = queue.send_queued(self._store, queued_ids)
        for row in rows:
            self.board.announce(row, RowAdded())
        if rows:
            self._tell_queue()
            self._begin(trigger=rows[-1].id)

    def _settle_trouble(self, last: TurnRow | None) -> None:
        """A new turn has begun: the last one's notices offer nothing any more."""
        if last is None:
            return
        for row in messages.list_of_turn(self._store, last.id):
            if row.kind in ("notice", "error") and not row.data.get("settled"):
                self.board.change(row.id, data={**row.data, "settled": True})

    def _hold(self) -> None:
        queue.hold_all(self._store, self.id)
        self._tell_queue()

    def _tell_queue(self) -> None:
        self.board.publish(QueueChanged(), member="user")

    def _tell_floor(self) -> None:
        self.board.publish(FloorChanged(), member=self.floor.member, turn=self.floor.turn)
        self._changed(self.id)
