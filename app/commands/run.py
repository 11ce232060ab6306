"""``plancia run``: one turn without the page, over the same bus, store and runner.

open the workbench → find or make the conversation → post the prompt → follow the room to the turn's ``done``
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import assert_never

import anyio
from anyio.to_thread import run_sync

from app.commands.answering import Answering
from app.commands.attaching import attach, check_files
from app.commands.deciding import Approve, Deciding
from app.commands.errors import UsageError
from app.commands.event_lines import EventLines
from app.commands.following import Asked, Following, Printer
from app.commands.planned import left_by_plan
from app.commands.prose import Prose
from app.commands.terminal import Terminal
from app.engine import events as engine
from app.engine.errors import ProviderError
from app.engine.provider import ModelSource
from app.group_chat.events import FormShown
from app.group_chat.roles import COMMANDER
from app.group_chat.room import Room
from app.infra.errors import SecretsError
from app.infra.paths import DataFolder
from app.providers.budget import Budget, Limit, has_price, unpriced
from app.workbench import Watch, Workbench, open_workbench
from app.workspace import conversations, queue
from app.workspace.agent_files import same_name
from app.workspace.agents import list_agents
from app.workspace.attachments import Attachments
from app.workspace.folders import usable_folder
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
    approve: Approve
    max_cost: float | None
    attach: list[Path]


async def run(options: Options, terminal: Terminal) -> int:
    """0 done, 1 failed, 2 no such model, 3 something needed somebody who could be asked, 130 stopped."""
    prompt = read_prompt(options.prompt, terminal)
    folder = DataFolder.at(options.data_dir, terminal.environment)
    to = find_member(folder, options.agent)
    check_files(options.attach)
    workspace = _workspace(options, terminal)
    async with open_workbench(
        folder, environment=terminal.environment, watch=_budget(options.max_cost)
    ) as bench:
        before = _find_conversation(bench.store, options)
        await _check_model(bench, options, before)
        row = _conversation(bench.store, options, before, workspace)
        printer = EventLines(terminal) if options.json else Prose(terminal)
        room, one_by_one = bench.bus.room(row.id), anyio.Lock()
        since = conversations.load_conversation(bench.store, row.id).revision
        deciding = Deciding(room, options.approve, terminal, one_by_one)
        answering = Answering(room, terminal, one_by_one)
        files = await attach(Attachments(folder, row.id, bench.store.new_id), options.attach)
        asked = partial(room.post, prompt, client_id=bench.store.new_id("cli"), to=to, attachments=files)
        done = await _take_turn(bench, room, asked, printer, terminal, deciding, answering)
        if before is not None and done.status == "failed":
            conversations.choose_model(bench.store, row.id, before.model)
        by_plan, of_plan = left_by_plan(room.planning.find(), since)
    code = exit_code(done, options.model)
    left = deciding.refused + answering.declined
    if code == 0 and left:
        what = "One call or form needed" if left == 1 else f"{left} calls and forms needed"
        terminal.tell(
            f"{what} somebody to ask, and nobody could be. Use --approve always, or a terminal, or the page."
        )
        return 3
    if code == 0 and by_plan:
        terminal.tell(of_plan)
        return by_plan
    return code


def find_member(folder: DataFolder, name: str | None) -> tuple[str, ...]:
    """The member of an id or a name; nobody where none was given. Raises ``UsageError`` for one who cannot be asked."""
    if name is None:
        return ()
    names = {COMMANDER: "Commander", **{each.id: each.name for each in list_agents(folder) if each.is_ready}}
    found = [id for id, called in names.items() if same_name(name) in (id, same_name(called))]
    if not found:
        raise UsageError(f'There is no agent "{name}". There is: {", ".join(names)}.')
    return (found[0],)


def read_prompt(given: str | None, terminal: Terminal) -> str:
    """What was typed; ``-`` or nothing takes what is piped in. Raises ``UsageError`` for an empty one."""
    if given is None and terminal.stdin.isatty():
        raise UsageError('Say what to do: plancia run "PROMPT", or pipe it in.')
    prompt = terminal.stdin.read() if given in (None, "-") else given
    if not prompt.strip():
        raise UsageError('The prompt is empty. Say what to do: plancia run "PROMPT".')
    return prompt


def exit_code(done: engine.Done, model: str | None = None) -> int:
    """``model`` is what was typed: one that nobody has cannot be, even where only its server knows that."""
    match done.status:
        case "failed" if model is not None and done.error and done.error.kind == "unknown_model":
            return 2
        case "completed":
            return 0
        case "aborted":
            return 130
        case "failed" | "interrupted" | "limit":
            return 1
        case _:
            assert_never(done.status)


def _budget(limit: float | None) -> Watch:
    """Lets no model be asked once this run has spent so many dollars."""

    def watch(models: ModelSource, store: Store) -> ModelSource:
        if limit is None:
            return models
        before = total(store).cost
        return Budget(models, lambda: (_limit(limit, total(store).cost - before),), lambda: True)

    return watch


def _limit(allowed: float, spent: float = 0.0) -> Limit:
    return Limit(allowed, spent, "The budget of this run", "Go on with a higher --max-cost, or without it.")


def _workspace(options: Options, terminal: Terminal) -> Path | None:
    """The folder that was named, or, for a new conversation, the current one."""
    if options.workspace is not None:
        return usable_folder(options.workspace)
    if options.conversation is not None:
        return None
    named = terminal.environment.get("PLANCIA_WORKSPACE")
    return usable_folder(Path(named), make=True) if named else Path.cwd()


def _find_conversation(store: Store, options: Options) -> ConversationRow | None:
    """The one to go on with, where one was named. Raises ``UsageError``."""
    if options.conversation is None:
        return None
    row = conversations.find_conversation(store, options.conversation)
    if row is None or row.deleted_at is not None:
        raise UsageError(f'There is no conversation "{options.conversation}". It may have been deleted.')
    return row


async def _check_model(bench: Workbench, options: Options, before: ConversationRow | None) -> None:
    """Before anything is changed. Raises ``UsageError``: the model does not exist, or a budget knows no price for it.

    What else is wrong with a model is said by the turn that asks it.
    """
    asked = options.model or (before.model if before else None)
    try:
        model = await run_sync(bench.sources.resolve, asked)
    except (ProviderError, SecretsError) as error:
        if options.model is not None and isinstance(error, ProviderError) and error.kind == "unknown_model":
            raise UsageError(str(error)) from error
        return
    if options.max_cost is not None and not has_price(model):
        raise UsageError(unpriced(model, _limit(options.max_cost)))


def _conversation(
    store: Store, options: Options, row: ConversationRow | None, workspace: Path | None
) -> ConversationRow:
    """``row`` or a new one; its model, where it answers, and its folder stay as they are chosen here."""
    if row is None:
        return conversations.create_conversation(store, workspace=str(workspace), model=options.model)
    if options.model is not None:
        row = conversations.choose_model(store, row.id, options.model)
    if workspace is not None:
        row = conversations.choose_workspace(store, row.id, str(workspace))
    queue.hold_all(store, row.id)  # what waits there is the page's to send
    return row


async def _take_turn(
    bench: Workbench,
    room: Room,
    post: Callable[[], Awaitable[None]],
    printer: Printer,
    terminal: Terminal,
    deciding: Deciding,
    answering: Answering,
) -> engine.Done:
    async with anyio.create_task_group() as tasks:

        def ask(asked: Asked) -> None:
            if isinstance(asked, FormShown):
                tasks.start_soon(answering.answer, asked)
            else:
                tasks.start_soon(deciding.decide, asked)

        tasks.start_soon(_stop_on_signal, room)
        start = room.feed.number
        await post()
        done = await Following(room, bench.store, printer, terminal, ask).follow(start)
        await room.wait_quiet()
        tasks.cancel_scope.cancel()
    return done


async def _stop_on_signal(room: Room) -> None:
    """Ctrl-C and SIGTERM end the turn as the page's Stop does; doing it twice changes nothing."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            await room.stop()
