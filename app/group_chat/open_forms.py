"""The forms of one room: shown in the chat, waited for without a limit, answered also when their turn was cut off."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.to_thread import run_sync

from app.engine.errors import Aborted
from app.engine.messages import Message
from app.engine.steering import UserInput
from app.engine.tools import ToolContext, ToolMap, ToolOutput
from app.group_chat.board import Board
from app.group_chat.company_tools import CompanyTool, Work
from app.group_chat.errors import NothingToDecide
from app.group_chat.events import FormShown, RowChanged
from app.group_chat.forms import SCHEMA, Form, Typed, check_answers, read_form
from app.group_chat.turn import LiveTurn
from app.prompts.rendering import compose
from app.workspace import messages
from app.workspace.rows import MessageRow, TurnRow

TOO_LATE = "This form has already ended, nothing was sent."


class AskUser(CompanyTool):
    """It changes nothing, so no access mode asks whether the user may be asked."""

    read_only = True

    def __init__(self, work: Work) -> None:
        super().__init__(
            "ask_user",
            "Ask the user with a form in the chat, and wait for the answers. For what only the user can decide or "
            "know, and not for what you can find out. Ask all in one form; give defaults where you can. Never ask "
            "for passwords or keys.",
            SCHEMA,
            work,
        )


class OfPlan(Protocol):
    """The forms that belong to a plan: it moves on with their answers. All is called under the room's lock."""

    def keeps(self, form: MessageRow) -> bool:
        """Whether it is one of them."""
        ...

    def form_ended(self, form: MessageRow) -> Sequence[LiveTurn]:
        """In the transaction that stores its end; returns the turns that follow, for ``go``."""
        ...

    def go(self, begun: Sequence[LiveTurn]) -> None: ...


class OpenForms:
    """A form is open as long as its article streams; who waits for it is here, and nowhere after a restart."""

    def __init__(
        self,
        board: Board,
        lock: anyio.Lock,
        unreadable: Callable[[str, str], str],
        plan: OfPlan,
        go_on: Callable[[MessageRow], Awaitable[object]],
    ) -> None:
        """``unreadable`` is that of ``check_answers``, of a conversation by its id.

        ``go_on``, under the lock, takes up the turn of a form that was cut off.
        """
        self._board = board
        self._store = board.store
        self._lock = lock
        self._unreadable = unreadable
        self._plan = plan
        self._go_on = go_on
        self._waits: dict[str, anyio.Event] = {}

    def tools_of(self, asker: LiveTurn) -> ToolMap:
        tool = AskUser(partial(self._ask, asker))
        return {tool.name: tool}

    async def hear(
        self, live: LiveTurn, before: TurnRow | None, history: Sequence[Message]
    ) -> list[UserInput]:
        """What came of the forms of the turn before, where it goes on from there. Waits for those still open."""
        if before is None or before.task != live.row.task:
            return []
        left = [row for row in messages.list_of_turn(self._store, before.id) if _is_unheard(row, history)]
        for row in left:  # of this turn from now on: its stop ends them, and a turn after it finds them
            self._board.announce(messages.update_message(self._store, row.id, turn=live.id), RowChanged())
        try:
            async with live.abort.guard():
                await self._until_answered(live, [row for row in left if row.state == "streaming"])
        except Aborted:
            return []
        rows = (messages.load_message(self._store, row.id) for row in left)
        return [UserInput(_told(row, late=True), row.id) for row in rows]

    async def answer(self, form_id: str, typed: Typed) -> Mapping[str, str]:
        """Send the answers. Returns what is wrong with them by field, in sentences; then nothing was sent.

        Raises ``NothingToDecide``, ``StorageError``.
        """
        form = Form.of(self._open(form_id).data)
        checked = await run_sync(
            partial(check_answers, form, typed, partial(self._unreadable, self._board.conversation))
        )
        if not checked.errors:
            await self._end(form_id, answer="sent", answers=dict(checked.answers))
        return checked.errors

    async def decline(self, form_id: str, why: str = "") -> None:
        """Raises ``NothingToDecide``, ``StorageError``."""
        await self._end(form_id, answer="declined", why=why)

    def close_left(self) -> None:
        """Under the lock: the user has gone on in another way, and those of a turn that was cut off are too late."""
        for row in messages.list_of_kind(self._store, self._board.conversation, "form"):
            left = row.state == "streaming" and row.id not in self._waits
            if left and not self._plan.keeps(row):
                self._board.change(row.id, state="interrupted")

    async def _ask(self, asker: LiveTurn, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        form = read_form(arguments)
        if isinstance(form, str):
            return ToolOutput.failed("E_ARGUMENTS", form)
        row = asker.board.add(
            "form",
            id=self._store.new_id("form"),
            member=asker.row.member,
            turn=asker.id,
            state="streaming",
            data={"call_id": context.call_id, **form.stored()},
        )
        if asker.board.trouble is not None:
            raise asker.board.trouble
        await self._until_answered(asker, [row])
        return ToolOutput(_told(messages.load_message(self._store, row.id)))

    async def _until_answered(self, live: LiveTurn, rows: Sequence[MessageRow]) -> None:
        waits = {row.id: anyio.Event() for row in rows}
        if not waits:
            return
        self._waits |= waits
        try:
            with live.asking():
                for row in rows:
                    shown = FormShown(row.id, row.data["title"], tuple(row.data["fields"]))
                    self._board.publish(shown, member=row.member, turn=live.id, message_id=row.id)
                for answered in waits.values():
                    await answered.wait()
        finally:
            for id in waits:
                self._waits.pop(id, None)

    async def _end(self, form_id: str, **how: Any) -> None:
        """Store how it ended, and let whoever waits for it go on."""
        async with self._lock:
            row = self._open(form_id)
            ended = {**row.data, **how, "answered_at": self._store.now()}
            begun: Sequence[LiveTurn] = ()
            with self._board.together():
                row = self._board.change(form_id, state="done", data=ended)
                is_of_plan = self._plan.keeps(row)
                if is_of_plan and form_id not in self._waits:
                    begun = self._plan.form_ended(row)
            if answered := self._waits.get(form_id):
                answered.set()
            elif is_of_plan:
                self._plan.go(begun)
            else:
                await self._go_on(row)

    def _open(self, form_id: str) -> MessageRow:
        row = messages.find_message(self._store, form_id)
        is_form = row is not None and (row.conversation, row.kind) == (self._board.conversation, "form")
        if row is None or not is_form or row.state != "streaming":
            raise NothingToDecide(TOO_LATE)
        return row


def _is_unheard(row: MessageRow, history: Sequence[Message]) -> bool:
    """Whether a form may still bring its member something: it is open, or was answered after its call was cut off."""
    if row.kind != "form" or row.state == "interrupted":
        return False
    if any(message.id == row.id for message in history):
        return False
    results = (result for message in reversed(history) for result in message.results)
    status = next((result.status for result in results if result.call_id == row.data["call_id"]), None)
    return status != "ok"


def _told(row: MessageRow, *, late: bool = False) -> str:
    answers = row.data.get("answers")
    return compose(
        "form_answer",
        title=row.data["title"],
        answers=json.dumps(answers, ensure_ascii=False, indent=1) if answers is not None else "",
        why=row.data.get("why", ""),
        late=late,
    )
