"""One conversation as a place: its state changes one at a time, under its lock, and every turn starts here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio

from app.engine.events import Done
from app.group_chat.approvals import TOO_LATE
from app.group_chat.dispatching import Dispatching
from app.group_chat.errors import EmptyMessage, NothingToDecide, NothingToResume, RoomBusy
from app.group_chat.events import ConversationChanged, FloorChanged, RoomEvent, RowAdded
from app.group_chat.floor import TakenBack
from app.group_chat.floor_keeping import FloorKeeper
from app.group_chat.leading import began, unanswered
from app.group_chat.live_turns import LiveTurns, StartTask
from app.group_chat.members import Members
from app.group_chat.mentions import read_mentions
from app.group_chat.onlook import Onlook
from app.group_chat.open_forms import OpenForms
from app.group_chat.plan_driver import PlanDriver
from app.group_chat.planning import Planning
from app.group_chat.recovery import recover_turn
from app.group_chat.roles import COMMANDER, USER
from app.group_chat.turn import LiveTurn
from app.group_chat.undoing import Undoing
from app.group_chat.waiting import SteeredMessages, WaitingList
from app.infra.feed import Feed
from app.models.errors import StorageError
from app.workspace import messages, tasks, turns
from app.workspace.attached import Attachment, with_attachments
from app.workspace.rows import MessageRow, QueueKind, TurnRow
from app.workspace.store import Store


class Room(Onlook):
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
        super().__init__(store, conversation, feed, members)
        self._tell_desk = partial(changed, conversation)
        self._lock = anyio.Lock()
        self.waiting = WaitingList(self.board, self._lock)
        self.undoing = Undoing(
            self.board,
            lambda: members.history(conversation),
            self._at_rest,
            lambda: turns.live_turns(store),
        )
        self._turns = LiveTurns(self.board, members, self._lock, start_task, self)
        self._floor = FloorKeeper(self.board, members.team)
        self._plan = PlanDriver(self.board, self._turns, self._floor)
        self.planning = Planning(self.board, self._turns, self._floor, self._lock, self._plan)
        self._dispatching = Dispatching(
            self.board, self._turns, self._floor, self._lock, self.planning.tools_of
        )
        self.forms = OpenForms(self.board, self._lock, members.unreadable, self._plan, self._go_on)

    async def post(
        self,
        text: str,
        *,
        client_id: str,
        kind: QueueKind = "queue",
        to: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
    ) -> None:
        """Send a message: at once where nobody is at work, else it waits as ``kind`` says.

        It goes to the members that it calls by name, else to ``to``, else to the holder of the floor. The same
        ``client_id`` twice counts once. Raises ``EmptyMessage``, ``NotFound``.
        """
        if not text.strip() and not attachments:
            raise EmptyMessage("There is nothing to send. Write a message first.")
        async with self._lock:
            if not await self._can_answer([text], to):
                self.waiting.add(text, client_id, kind, attachments)
            elif not self.knows(client_id):
                with self.board.together():
                    row = messages.add_message(
                        self._store,
                        self.id,
                        kind="user",
                        member=USER,
                        text=text,
                        data=with_attachments({}, attachments),
                        client_id=client_id,
                    )
                    turn = self._answer([row], to)
                    self.board.announce(messages.load_message(self._store, row.id), RowAdded())
                    if row.position == 1:
                        self.board.publish(ConversationChanged(), member=USER)
                self._turns.go(turn)

    def knows(self, client_id: str) -> bool:
        """Whether a message was sent under this id, or waits."""
        return messages.find_sent(self._store, self.id, client_id) is not None or self.waiting.has(client_id)

    async def send_now(self, queued_id: str) -> None:
        """A waiting message goes first: into the running turn, or as the next one. Raises ``NotFound``."""
        async with self._lock:
            row = self.waiting.load(queued_id)
            if await self._can_answer([row.text]):
                with self.board.together():
                    turn = self._send([queued_id])
                self._turns.go(turn)
            else:
                self.waiting.steer(queued_id)

    async def stop(self, turn_id: str | None = None) -> None:
        """End every run of the room and hold what waits, or end one of them; returns when all is quiet."""
        only = next((live for live in self._turns.all if live.id == turn_id), None)
        if turn_id is None:
            await self._pause_plan()
        if turn_id is None or only is not None:
            await self._turns.stop(only)

    def hurry(self) -> bool:
        """Wait no longer for a model that is busy, but ask it again; whether anybody waited."""
        hurried = [live.hurry.now() for live in self._turns.all]
        return any(hurried)

    async def decide(
        self, approval_id: str, decision: str, reason: str = "", rule: int = 0, *, network: bool = False
    ) -> None:
        """Answer what a call waits for, ``rule`` being the number of the one that is made of it.

        ``network`` allows that as well, where the question leaves it open. Raises ``NothingToDecide``,
        ``UnknownDecision``, ``StorageError``.
        """
        for live in self._turns.all:
            if live.asks(approval_id):
                await live.decide(approval_id, decision, reason, rule, network=network)
                if decision == "allow_always":
                    for other in self._turns.all:
                        await other.settle()
                return
        raise NothingToDecide(TOO_LATE)

    async def take_back_floor(self) -> None:
        """Commander answers from now on. Who is at work goes on to the end of its turn."""
        async with self._lock:
            if (holder := self.holder) == COMMANDER:
                return
            with self.board.together():
                self._floor.pass_(TakenBack())
                data = {"how": "takeback", "to": holder}
                self.board.add("dispatch", member=USER, turn=None, data=data)
        self.tell_conversation()

    async def resume(self) -> None:
        """Continue an interrupted turn, or try a failed one again. Raises ``NothingToResume``, ``RoomBusy``."""
        async with self._lock:
            if not await self._is_free():
                raise RoomBusy("A turn is running already. Wait for its end, or stop it first.")
            self._take_up()

    async def retry_task(self, task_id: str, model: str | None = None) -> None:
        """Begin a job anew that did not come to its end, by ``model`` where one is given.

        Its member answers in the chat. Raises ``NotFound``, ``NothingToResume``, ``RoomBusy``.
        """
        async with self._lock:
            if not await self._is_free():
                raise RoomBusy("Somebody is at work. Wait for the end, or stop it, then try the job again.")
            row = tasks.load_task(self._store, task_id)
            if row.kind == "plan":
                raise NothingToResume("This is a step of a plan. Retry it on the board of the plan.")
            if row.conversation != self.id or row.is_open or row.state == "done":
                raise NothingToResume("This job was done, or goes on: there is nothing to try again.")
            with self.board.together():
                if row.turn is not None:
                    self._settle_trouble(turns.load_turn(self._store, row.turn))
                live = self._dispatching.try_again(row, model)
            self._turns.go(live)

    def tell_conversation(self) -> None:
        """Title, model, folder or sums were changed; whoever shows them draws them anew."""
        self.board.publish(ConversationChanged(), member=USER)
        self._tell_desk()

    async def wait_quiet(self) -> None:
        await self._turns.wait_quiet()

    async def close(self) -> None:
        """Before the process ends: stop, and wait no longer for a store that takes nothing."""
        await self._turns.close()

    async def take(self, live: LiveTurn) -> None:
        """See ``Followers``."""
        steering = SteeredMessages(
            self.board, live.id, self._lock, self._members.root, partial(self._is_for, live)
        )
        await live.run(self._members, steering, self.undoing, self._dispatching, self.forms)

    def changed(self, live: LiveTurn) -> None:
        """See ``Followers``."""
        self._dispatching.waits(live)
        self._plan.waits(live)
        self.board.publish(FloorChanged(), member=self.floor.member, turn=self.floor.turn)
        self._tell_desk()

    def stored_late(self) -> None:
        """See ``Followers``."""
        self.tell_conversation()

    def ended(self, live: LiveTurn, done: Done) -> Sequence[LiveTurn]:
        """See ``Followers``. What waited for the end becomes the next turn, or is held where it did not end well."""
        self._dispatching.ended(live, done)
        went_well = done.status == "completed" and not live.abort.is_set
        if live.answers_user and went_well and live.handed_back:
            self._dispatching.hand_back(live)
        if not went_well and live.answers_user:
            self._floor.clear()
        if not went_well and (live.answers_user or (live.abort.is_set and self._turns.root is None)):
            self._hold_waiting()
        answers = self._answer_next(live)
        return [*answers, *self._plan.ended(live, done, answers)]

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
        if not self._turns.all:
            self._turns.save()
        if self._turns.all:
            return False
        for turn in turns.live_turns(self._store, self.id):
            for row, change in await recover_turn(self._store, self._members, turn):
                self.board.announce(row, change)
        return True

    def _take_up(self) -> None:
        """The last turn goes on, and a plan that stands still. Raises ``NothingToResume``."""
        last = turns.find_last_turn(self._store, self.id)
        stands = last is not None and last.state != "completed"
        if not stands and not self._plan.can_go_on:
            raise NothingToResume("There is nothing to continue: the last turn ended as it should.")
        begun: list[LiveTurn] = []
        with self.board.together():
            if last is not None and stands:
                begun.append(self._begin(last.member, "retry" if last.state == "failed" else "continue"))
                self._floor.recall(unanswered(self._store, last))
            if not stands or self._plan.is_cut_off:
                begun += self._plan.continue_(begun)
        self._plan.go(begun)

    async def _go_on(self, form: MessageRow) -> None:
        """A form was answered for which nobody waits: so does its turn, unless somebody is at work already."""
        if await self._is_free():
            with self.board.together():
                alone = self._dispatching.go_on_alone(form.turn or "")
            self._turns.go(alone) if alone else self._take_up()

    async def _can_answer(self, texts: Sequence[str], to: Sequence[str] = ()) -> bool:
        """Whether who is to answer is free to. What works for a plan meanwhile goes on. Raises ``StorageError``."""
        return await self._is_free() or self._is_free_for(self._called(texts, to))

    def _is_free_for(self, called: Sequence[str], ending: LiveTurn | None = None) -> bool:
        first = called[0] if called else self._floor.holder
        return all(
            live is ending or (not live.answers_user and live.row.member != first)
            for live in self._turns.open
        )

    def _answer_next(self, ending: LiveTurn) -> list[LiveTurn]:
        """A turn has ended: who was called beside it speaks, or what waits is sent, once who is to answer is free."""
        if self._floor.next and self._is_free_for([self._floor.next], ending):
            return [self._begin(self._floor.take_next(), began(self._store, ending.row))]
        waiting = self.waiting.due()
        texts = [self.waiting.load(id).text for id in waiting]
        if waiting and not self._floor.next and self._is_free_for(self._called(texts), ending):
            return [self._send(waiting)]
        return []

    def _hold_waiting(self) -> None:
        if self.waiting.due():
            self.waiting.hold()

    async def _pause_plan(self) -> None:
        """A stop reaches who works all the same where the store takes nothing."""
        with suppress(StorageError):
            async with self._lock:
                with self.board.together():
                    self._plan.stopped()

    def _begin(self, member: str, trigger: str) -> LiveTurn:
        """A turn that answers the user, once the trouble of the last one is settled."""
        last = turns.find_last_turn(self._store, self.id)
        if last is not None:
            self._settle_trouble(last)
        if trigger != "continue":
            self.forms.close_left()
            self._dispatching.drop_left()
        holds = member == self._floor.holder != COMMANDER
        return self._turns.begin(member, trigger=trigger, part="floor" if holds else "addressed")

    def _send(self, queued_ids: Sequence[str]) -> LiveTurn:
        """Waiting messages become messages, all together, and are answered by one turn of each whom they call."""
        return self._answer(self.waiting.send(queued_ids))

    def _answer(self, rows: Sequence[MessageRow], to: Sequence[str] = ()) -> LiveTurn:
        """The turn of the first who is called by what the user said; the others follow it."""
        for row in rows:
            mentions = self._floor.read(row.text)
            named = mentions.to or tuple(to)
            data = {**row.data, "to": list(named or (self._floor.holder,))}
            if mentions.unknown:
                data |= self._nobody_of(row.text)
            messages.update_message(self._store, row.id, data=data)
        return self._begin(self._floor.said(self._called([row.text for row in rows], to)), rows[-1].id)

    def _nobody_of(self, text: str) -> dict[str, list[str]]:
        """What a text calls in vain: agents that cannot be asked now, and names that nobody has."""
        absent = {agent.id: agent.name for agent in self._members.absent()}
        called = read_mentions(USER, text, {**absent, **self._floor.names()})
        off = [member for member in called.to if member in absent]
        return {"unknown": list(called.unknown), "absent": off}

    def _called(self, texts: Sequence[str], to: Sequence[str] = ()) -> tuple[str, ...]:
        """By name, in the order of the texts; one that names nobody calls ``to``."""
        return tuple(dict.fromkeys(member for text in texts for member in self._floor.read(text).to or to))

    def _is_for(self, live: LiveTurn, text: str) -> bool:
        """Whether a message that steers is for this turn: for the one whom it calls, else for who answers.

        One that calls somebody who is not at work, or several, waits for the end like any other.
        """
        called = self._floor.read(text).to
        if called:
            return called == (live.row.member,)
        return live is (self._turns.root or self._turns.of(self._floor.holder))

    def _settle_trouble(self, last: TurnRow) -> None:
        """A new turn has begun: the last one's notices offer nothing any more."""
        for row in messages.list_of_turn(self._store, last.id):
            if row.kind in ("notice", "error") and not row.data.get("settled"):
                self.board.change(row.id, data={**row.data, "settled": True})
