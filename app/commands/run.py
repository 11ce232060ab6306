"""``plancia run``: one turn without the page, over the same bus, store and runner.

open the workbench → find or make the conversation → post the prompt → follow the room to the turn's ``done``
"""

from __future__ import annotations

import argparse
import signal
from pathlib import Path
from typing import Literal, Protocol, assert_never

import anyio

from app.commands.budget import Budget, has_price, unpriced
from app.commands.errors import UsageError
from app.commands.event_lines import EventLines
from app.commands.prose import Prose
from app.commands.terminal import Terminal
from app.engine import events as engine
from app.engine.provider import ModelSource
from app.group_chat.events import RoomChange, RoomEvent
from app.group_chat.members import COMMANDER
from app.group_chat.room import Room
from app.infra.paths import DataFolder
from app.workbench import Workbench, open_workbench, usable_folder
from app.workspace import conversations, queue
from app.workspace.rows import ConversationRow
from app.workspace.store import Store
from app.workspace.usage import total


class Options(argparse.Namespace):
    data_dir: Path | None
    prompt: str | None
    agent: str | None
    model: str | None
    workspace: Path | None
    conversation: str | None
    json: bool
    approve: Literal["ask", "never", "always"]
    max_cost: float | None


class Printer(Protocol):
    """Shows the events of a turn as they come."""

    def take(self, place: RoomEvent, event: engine.Event) -> None: ...


async def run(options: Options, terminal: Terminal) -> int:
    """0 done, 1 failed, 130 stopped."""
    prompt = read_prompt(options.prompt, terminal)
    if options.agent not in (None, COMMANDER):
        raise UsageError(f'There is no agent "{options.agent}". There is: {COMMANDER}.')
    folder = DataFolder.at(options.data_dir, terminal.environment)
    workspace = _workspace(options, terminal)
    purse = _Purse(options.max_cost)
    async with open_workbench(folder, environment=terminal.environment, watch=purse.watch) as bench:
        row = _conversation(bench, options, workspace)
        if purse.budget is not None and not has_price(model := bench.sources.resolve(row.model)):
            raise UsageError(unpriced(model))
        printer = EventLines(terminal) if options.json else Prose(terminal)
        done = await _take_turn(bench, row, prompt, printer, terminal)
    return exit_code(done)


def read_prompt(given: str | None, terminal: Terminal) -> str:
    """What was typed; ``-`` or nothing takes what is piped in. Raises ``UsageError`` for an empty one."""
    if given is None and terminal.stdin.isatty():
        raise UsageError('Say what to do: plancia run "PROMPT", or pipe it in.')
    prompt = terminal.stdin.read() if given in (None, "-") else given
    if not prompt.strip():
        raise UsageError('The prompt is empty. Say what to do: plancia run "PROMPT".')
    return prompt


def exit_code(done: engine.Done) -> int:
    match done.status:
        case "completed":
            return 0
        case "aborted":
            return 130
        case "failed" | "interrupted" | "limit":
            return 1
        case _:
            assert_never(done.status)


class _Purse:
    """The budget of this run, where one was set; made when the workbench has its models."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self.budget: Budget | None = None

    def watch(self, models: ModelSource, store: Store) -> ModelSource:
        if self._limit is None:
            return models
        before = total(store).cost
        self.budget = Budget(models, self._limit, lambda: total(store).cost - before)
        return self.budget


def _workspace(options: Options, terminal: Terminal) -> Path | None:
    """The folder that was named, or, for a new conversation, the current one."""
    if options.workspace is not None:
        return usable_folder(options.workspace)
    if options.conversation is not None:
        return None
    named = terminal.environment.get("PLANCIA_WORKSPACE")
    return usable_folder(Path(named), make=True) if named else Path.cwd()


def _conversation(bench: Workbench, options: Options, workspace: Path | None) -> ConversationRow:
    """The one to go on with, or a new one; its model and its folder stay as they are chosen here."""
    store = bench.store
    if options.conversation is None:
        return conversations.create_conversation(store, workspace=str(workspace), model=options.model)
    row = conversations.find_conversation(store, options.conversation)
    if row is None or row.deleted_at is not None:
        raise UsageError(f'There is no conversation "{options.conversation}". It may have been deleted.')
    if options.model is not None:
        row = conversations.choose_model(store, row.id, options.model)
    if workspace is not None:
        row = conversations.choose_workspace(store, row.id, str(workspace))
    queue.hold_all(store, row.id)  # what waits there is the page's to send
    return row


async def _take_turn(
    bench: Workbench,
    row: ConversationRow,
    prompt: str,
    printer: Printer,
    terminal: Terminal,
) -> engine.Done:
    room = bench.bus.room(row.id)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, room)
        start = room.feed.number
        await room.post(prompt, client_id=bench.store.new_id("cli"))
        done = await _follow(room, start, printer, terminal)
        await room.wait_quiet()
        tasks.cancel_scope.cancel()
    return done


async def _follow(room: Room, start: int, printer: Printer, terminal: Terminal) -> engine.Done:
    """Print the events of the turn that runs now, and of those it brings about, up to its ``done``."""
    turn = room.floor.turn
    async for batch in room.feed.follow(start):
        for _, place in batch:
            event = place.event
            if isinstance(event, RoomChange):
                continue
            printer.take(place, event)
            if isinstance(event, engine.Done) and place.turn == turn:
                terminal.stdout.flush()
                return event
        terminal.stdout.flush()
    raise AssertionError("a turn ends with a Done")


async def _stop_on_signal(room: Room) -> None:
    """Ctrl-C and SIGTERM end the turn as the page's Stop does; doing it twice changes nothing."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            await room.stop()
