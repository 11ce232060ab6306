"""Taking back what turns did to the files of one conversation; a restore is a deed that can be taken back as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from app.group_chat.board import Board
from app.group_chat.deeds import Deed, deeds_of
from app.group_chat.errors import CannotUndo, RoomBusy
from app.group_chat.events import FilesChanged
from app.group_chat.gates import path_gate
from app.group_chat.restoring import Planned, carry_out, change_of, plan, step_of
from app.hands.errors import SnapshotTrouble
from app.hands.permissions.names import shown
from app.hands.terminal_text import Redact
from app.hands.threads import CheckStop, in_thread
from app.hands.undo.history import History
from app.hands.undo.tally import Tally, tally, told
from app.hands.undo.texts import TextDiff
from app.hands.undo.values import Change, Choice, Origin, Outcome, Restored, Step
from app.infra.paths import DataFolder
from app.workspace import conversations, steps
from app.workspace.errors import NotFound
from app.workspace.rows import StepRow, TurnRow
from app.workspace.steps import RESTORE
from app.workspace.store import Store

T = TypeVar("T")

LEFT_SAID = 20
"""Paths that could not be brought back, of which a notice tells."""

AtRest = Callable[[], AbstractAsyncContextManager[None]]
"""A block in which no turn of the conversation runs or begins. Raises ``RoomBusy`` where one does."""


@dataclass(frozen=True, slots=True)
class Part:
    """What of a deed is meant: all of it, one of its steps, or one file by its key (see ``Line``)."""

    deed: str
    step: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking back comes to. Where the user has to choose first, nothing was done and there is no ``deed``."""

    deed: str
    outcome: Outcome
    apart: tuple[TextDiff, ...] = ()
    """Of each conflict, from what stood there before to what stands there now."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a deed changed, path by path, and what of the workspace was not kept, a sentence each."""

    changes: tuple[Change, ...]
    left_out: tuple[str, ...]


def open_history(store: Store, folder: DataFolder, redact: Redact, conversation_id: str) -> History:
    """The snapshots of a conversation's folder. Looks at the disk. Raises ``NotFound``."""
    conversation = conversations.load_conversation(store, conversation_id)
    gate = path_gate(folder, conversation)
    return History(folder.snapshots, gate, clock=store.clock, new_id=store.new_id, redact=redact)


class Undoing:
    """Every method raises ``CannotUndo`` in words, and ``NotFound`` for a deed that is not there."""

    def __init__(
        self,
        board: Board,
        history: Callable[[], History],
        at_rest: AtRest,
        live: Callable[[], Iterable[TurnRow]],
    ) -> None:
        """``live`` are the turns that run now, in all conversations."""
        self.board = board
        self._store = board.store
        self._history = history
        self._at_rest = at_rest
        self._live = live

    def deeds(self) -> tuple[Deed, ...]:
        """The oldest first, as they are kept: nothing is looked at on the disk."""
        return deeds_of(steps.list_steps(self._store, self.board.conversation))

    def deed(self, id: str) -> Deed:
        for deed in self.deeds():
            if deed.id == id:
                return deed
        raise NotFound("No change of files is kept under this name. It may have been given up since.")

    async def look(self, part: Part) -> Looked:
        rows = self._rows(part)

        def work(_: CheckStop) -> Looked:
            history = self._history()
            done = [step_of(history, row) for row in rows]
            return Looked(told(history.changes(done)), history.left_out(done[0].before))

        return await _in_words(work)

    async def diff(self, part: Part) -> tuple[Change, TextDiff]:
        """Of one file."""
        rows = self._rows(part)

        def work(_: CheckStop) -> tuple[Change, TextDiff]:
            history = self._history()
            change = change_of(history, [step_of(history, row) for row in rows], part.file)
            return change, history.text_diff(change)

        return await _in_words(work)

    async def preview(self, part: Part) -> Outcome:
        """What taking it back would come to now; nothing is changed."""
        rows, origin = self._rows(part), Origin(self.board.conversation, part.deed)
        return (await self._plan(part, rows, {}, origin)).outcome

    async def restore(self, part: Part, choices: Mapping[str, Choice] | None = None) -> Undone:
        """Take it back, and keep what the user changed since. ``choices`` answers conflicts, see ``plan``.

        Raises ``RoomBusy`` while a turn works in the folder, of this conversation or of another.
        """
        async with self._at_rest():
            self._refuse_live()
            await self.settle()
            rows = self._rows(part)
            origin = Origin(self.board.conversation, self._store.new_id("undo"))
            planned = await self._plan(part, rows, choices or {}, origin)
            if not planned.is_answered:
                return Undone("", planned.outcome, planned.apart)
            if not planned.outcome.changes:
                raise CannotUndo(_nothing(planned.outcome))
            row = self._begin(part, origin, planned)
            restored, counted = await _in_words(lambda stop: carry_out(planned, origin, stop))
            self._end(row, restored, counted)
        return Undone(origin.turn, restored)

    async def settle(self) -> None:
        """End the steps that were cut off, by a crash or by a stop that did not wait for them."""
        live = {turn.id for turn in self._live()}
        for row in steps.open_steps(self._store, self.board.conversation):
            if row.turn not in live:
                await self._settle(row)

    async def _settle(self, row: StepRow) -> None:
        rows = steps.list_steps(self._store, row.conversation)
        earlier = [each for each in rows if each.turn == row.turn and each.after is not None]

        def work(stop: CheckStop) -> tuple[Step, Tally]:
            history = self._history()
            after = history.take(Origin(row.conversation, row.turn), stop)
            done = [*(step_of(history, each) for each in earlier), history.step(row.before, after.id)]
            return done[-1], tally(history, done)

        try:
            step, counted = await in_thread(work)
        except SnapshotTrouble:
            return
        keep_end(self.board, row, step, counted)

    # Parts of a restore

    async def _plan(
        self, part: Part, rows: list[StepRow], choices: Mapping[str, Choice], origin: Origin
    ) -> Planned:
        return await _in_words(lambda stop: plan(self._history(), rows, part.file, choices, origin, stop))

    def _begin(self, part: Part, origin: Origin, planned: Planned) -> StepRow:
        return steps.begin_step(
            self._store,
            origin.conversation,
            turn=origin.turn,
            call_id=part.step or part.file,
            tool=RESTORE,
            before=planned.before,
            undoes=part.deed,
        )

    def _end(self, row: StepRow, restored: Restored, files: Tally) -> None:
        keep_end(self.board, row, restored.step, files)
        if not restored.changes:
            raise CannotUndo(_nothing(restored))
        of = self.deed(row.undoes or "")
        data = {
            "notice": "restored",
            "deed": row.turn,
            "of": "restore" if of.is_restore else "turn",
            "began": of.started,
            "part": bool(row.call_id),
            "files": files.files,
            "first": files.lines[0].path if files.lines else "",
            "left": [f"{shown(each.path)}: {each.why}" for each in restored.left[:LEFT_SAID]],
        }
        self.board.add("notice", member="user", turn=None, data=data)

    def _rows(self, part: Part) -> list[StepRow]:
        rows = [row for row in self.deed(part.deed).steps if part.step in ("", row.id)]
        if not rows:
            raise NotFound("This step is not kept any more.")
        return rows

    def _refuse_live(self) -> None:
        own = conversations.load_conversation(self._store, self.board.conversation)
        for turn in self._live():
            other = conversations.load_conversation(self._store, turn.conversation)
            if _overlap(Path(own.workspace), Path(other.workspace)):
                name = f"“{other.title}”" if other.id != own.id else "This conversation"
                raise RoomBusy(f"{name} is at work in this folder. Stop it or wait for its end, then undo.")


def keep_end(board: Board, row: StepRow, step: Step, counted: Tally) -> None:
    """Store how a step ended, and tell who follows the room. Raises ``StorageError``."""
    if step.before.tree == step.after.tree:
        steps.drop_step(board.store, row)
        return
    steps.end_step(board.store, row, after=step.after.id, tally=counted.kept())
    board.publish(FilesChanged(), member="user", turn=row.turn)


def _nothing(outcome: Outcome) -> str:
    if outcome.left:
        first = outcome.left[0]
        return f"Nothing can be brought back. {shown(first.path)}: {first.why}"
    return "There is nothing to bring back: the files are as they were before."


def _overlap(one: Path, other: Path) -> bool:
    one, other = one.resolve(), other.resolve()
    return one.is_relative_to(other) or other.is_relative_to(one)


async def _in_words(work: Callable[[CheckStop], T]) -> T:
    """In a thread."""
    try:
        return await in_thread(work)
    except SnapshotTrouble as trouble:
        raise CannotUndo(trouble.sentence) from trouble
