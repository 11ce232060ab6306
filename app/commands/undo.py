"""``plancia undo``: takes back what a turn did to files, also beside a running server."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from app.commands.errors import CommandError, UsageError
from app.commands.terminal import Terminal
from app.group_chat.board import Board
from app.group_chat.deeds import Deed, undone
from app.group_chat.undoing import Part, Undoing, open_history
from app.hands.permissions.names import shown
from app.hands.undo.tally import key_of
from app.hands.undo.texts import in_words
from app.hands.undo.values import Choice, Conflict
from app.infra.errors import FolderInUse
from app.infra.feed import Feed
from app.infra.locks import FolderLock
from app.infra.masking import Masking
from app.infra.paths import DataFolder
from app.workbench import Cabinet, open_cabinet
from app.workspace import conversations, messages, turns
from app.workspace.rows import ConversationRow, TurnRow


class Options(argparse.Namespace):
    data_dir: Path | None
    conversation: str | None
    turn: int | None
    list: bool


async def run(options: Options, terminal: Terminal) -> int:
    folder = DataFolder.at(options.data_dir, terminal.environment)
    async with open_cabinet(folder, environment=terminal.environment) as cabinet:
        conversation = _conversation(cabinet, options.conversation)
        with _live_turns(cabinet) as live:
            undoing = _undoing(cabinet, conversation, live)
            deeds = undoing.deeds()
            if not deeds:
                terminal.say(f"No turn of “{conversation.title}” has changed a file.")
            elif options.list:
                _list(cabinet, deeds, terminal)
            else:
                await _undo(undoing, _chosen(deeds, options.turn), terminal)
    return 0


async def _undo(undoing: Undoing, deed: Deed, terminal: Terminal) -> None:
    done = await undoing.restore(Part(deed.id))
    if not done.deed:
        choices = _ask(done.outcome.conflicts, terminal)
        done = await undoing.restore(Part(deed.id), choices)
    if not done.deed:
        raise CommandError(
            "The files changed while you were asked. Nothing was undone; run the command again."
        )
    counted = undoing.deed(done.deed).tally
    terminal.say(f"Undone, {counted.files:,} {'file' if counted.files == 1 else 'files'}:")
    for line in counted.lines:
        terminal.say(f"  {_MARKS[line.kind]} {line.path}")
    for left in done.outcome.left:
        terminal.tell(f"{shown(left.path)}: {left.why}")
    terminal.whisper("What you changed since is kept. `plancia undo --list` shows how to take this back.")


def _ask(conflicts: tuple[Conflict, ...], terminal: Terminal) -> Mapping[str, Choice]:
    """What stands afterwards where the user changed the same. Raises ``CommandError`` where nobody can be asked."""
    names = ", ".join(shown(one.path) for one in conflicts[:5]) + (", …" if len(conflicts) > 5 else "")
    if not terminal.can_ask:
        raise CommandError(
            f"You changed the same: {names}. Nothing was undone. Run this in a terminal or undo on the page, where "
            "you can choose what stands afterwards."
        )
    answers: dict[str, Choice] = {}
    for one in conflicts:
        terminal.tell(f"{shown(one.path)}: {one.why}")
        terminal.tell(f"  mine: {in_words(one.ours)}; before: {in_words(one.theirs)}")
        answer = terminal.ask("  Keep mine, or bring back what was before? [mine/before] ").lower()
        if answer not in ("m", "mine", "b", "before"):
            raise CommandError("Nothing was undone.")
        answers[key_of(one.path)] = "mine" if answer.startswith("m") else "before"
    return answers


def _list(cabinet: Cabinet, deeds: tuple[Deed, ...], terminal: Terminal) -> None:
    numbers = {deed.id: str(number) for number, deed in enumerate(deeds, start=1)}
    back = undone(deeds)
    rows = [
        (
            numbers[deed.id],
            deed.started[:16].replace("T", " "),
            f"{deed.tally.files:,}",
            f"undone by {numbers[back[deed.id].id]}" if deed.id in back else "",
            _about(cabinet, deed, numbers),
        )
        for deed in deeds
    ]
    terminal.say_table(("turn", "time (UTC)", "files", "", "what"), rows)


def _about(cabinet: Cabinet, deed: Deed, numbers: Mapping[str, str]) -> str:
    if deed.is_restore:
        return f"undo of {numbers.get(deed.steps[0].undoes or '', 'an earlier turn')}"
    turn = turns.find_turn(cabinet.store, deed.id)
    asked = messages.find_message(cabinet.store, turn.trigger) if turn else None
    return asked.text.strip().split("\n")[0][:60] if asked else "continued"


def _chosen(deeds: tuple[Deed, ...], number: int | None) -> Deed:
    """The last turn, or the one with this number in the list."""
    if number is None:
        return next((deed for deed in deeds[::-1] if not deed.is_restore), deeds[-1])
    if number > len(deeds):
        raise UsageError(f"There is no turn {number}: `plancia undo --list` shows 1 to {len(deeds)}.")
    return deeds[number - 1]


def _conversation(cabinet: Cabinet, id: str | None) -> ConversationRow:
    """Raises ``NotFound``, ``CommandError`` where there is none yet."""
    if id is not None:
        return conversations.load_conversation(cabinet.store, id)
    recent = conversations.list_recent(cabinet.store)
    if not recent:
        raise CommandError("There is no conversation yet, so there is nothing to undo.")
    return max(recent, key=lambda row: row.updated)


@contextmanager
def _live_turns(cabinet: Cabinet) -> Iterator[partial[list[TurnRow]]]:
    """What gives the turns that run: none where nobody has the data folder, which is then held meanwhile."""
    lock = FolderLock(cabinet.folder)
    try:
        lock.acquire()
    except FolderInUse:
        yield partial(turns.live_turns, cabinet.store)
        return
    try:
        yield partial(list[TurnRow])
    finally:
        lock.release()


def _undoing(cabinet: Cabinet, conversation: ConversationRow, live: partial[list[TurnRow]]) -> Undoing:
    board = Board(cabinet.store, conversation.id, Feed(cabinet.store.new_id("room"), 16))
    redact = Masking(cabinet.secrets, cabinet.environment).redact
    history = partial(open_history, cabinet.store, cabinet.folder, redact, conversation.id)
    return Undoing(board, history, _at_rest, live)


@asynccontextmanager
async def _at_rest() -> AsyncIterator[None]:
    """Turns that run, of this conversation too, are found in the store."""
    yield


_MARKS = {"added": "+", "removed": "-", "changed": "~"}
"""What the restore did to a file."""
