"""One process at work on one data folder: everything it needs, opened in order and closed in reverse.

Pages and commands share it, so that a turn from the terminal is the turn of the page. The cabinet is the part
that may be opened beside a running server; the workbench is the whole, and only one process has it.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from app.engine.harness import Harness
from app.engine.provider import ModelSource
from app.group_chat.bus import Bus
from app.group_chat.members import Members
from app.group_chat.outside import Outside
from app.hands.jobs import Jobs
from app.hands.machine import FoundConfinement, Machine
from app.hands.permissions.confinement import find_confinement
from app.hands.pictures import load_picture
from app.infra.clock import Clock, SystemClock
from app.infra.ids import new_id
from app.infra.locks import FolderLock
from app.infra.logs import logging_to
from app.infra.masking import Masking
from app.infra.paths import DataFolder
from app.infra.processes import hide_from_others
from app.infra.secrets import SecretStore
from app.models.database import open_database
from app.providers.catalogue import Catalogue
from app.providers.cooldown import Cooldowns
from app.providers.logins import Logins
from app.providers.resting import list_resting
from app.providers.routing import Sources
from app.providers.wires import Wiring
from app.workspace.folders import folder_to_be
from app.workspace.model_facts import list_facts
from app.workspace.model_sources import list_order, list_sources
from app.workspace.purging import purge_expired
from app.workspace.settings import get_setting
from app.workspace.store import Store
from app.workspace.web_search import search_engine

if TYPE_CHECKING:
    import httpx

Watch = Callable[[ModelSource, Store], ModelSource]
"""Stands between the runs and the models: sees every call before it is made and may refuse it."""


@dataclass(frozen=True, slots=True)
class Cabinet:
    """What lies in the data folder: read and changed in short transactions, beside a running server too."""

    folder: DataFolder
    store: Store
    secrets: SecretStore
    sources: Sources
    environment: Mapping[str, str]
    logins: Logins

    def workspace(self, asked: Path | None = None) -> Path:
        """The folder of a new conversation: ``asked``, else ``PLANCIA_WORKSPACE``, else the setting, else ~/Plancia.

        It may be missing: ``usable_folder`` makes it for the first conversation. Raises ``FolderUnusable``.
        """
        named = self.environment.get("PLANCIA_WORKSPACE") or str(get_setting(self.store, "workspace.default"))
        chosen = asked or Path(named or Path.home() / "Plancia")
        return folder_to_be(chosen)


@dataclass(frozen=True, slots=True)
class Workbench(Cabinet):
    """The cabinet, and the bus on which turns are taken."""

    bus: Bus
    machine: Machine
    recovered: int
    """Turns that a crash had cut off and that this start closed."""


@asynccontextmanager
async def open_workbench(
    folder: DataFolder,
    *,
    environment: Mapping[str, str] = os.environ,
    clock: Clock | None = None,
    watch: Watch = lambda models, _: models,
) -> AsyncIterator[Workbench]:
    """Take the folder for this process alone until the block is left; then every run is stopped.

    Raises ``DataFolderError``, ``FolderInUse``, ``StorageError``.
    """
    folder.create()
    hide_from_others()
    async with AsyncExitStack() as stack:
        stack.enter_context(FolderLock(folder))
        stack.enter_context(logging_to(folder.logs))
        base = await stack.enter_async_context(open_cabinet(folder, environment=environment, clock=clock))
        store = base.store
        harness = Harness(watch(base.sources, store), store.clock, new_id, random.random)
        machine = _machine(base)
        stack.push_async_callback(machine.jobs.close)
        tasks = await stack.enter_async_context(_tasks())
        outside = Outside(
            watch(base.sources.for_pictures(), store),
            partial(search_engine, store, base.secrets, environment),
        )
        members = Members(store, folder, harness, machine, partial(list_resting, base.sources), outside)
        bus = Bus(store, members, partial(_start, tasks))
        stack.push_async_callback(_stop_all, bus)
        _start(tasks, machine.confinement.get)
        recovered = await bus.recover()
        await purge_expired(store, folder, machine.jobs)
        yield Workbench(
            folder, store, base.secrets, base.sources, environment, base.logins, bus, machine, recovered
        )


@asynccontextmanager
async def open_cabinet(
    folder: DataFolder, *, environment: Mapping[str, str] = os.environ, clock: Clock | None = None
) -> AsyncIterator[Cabinet]:
    """Open what lies in the folder, made where it is missing. Raises ``DataFolderError``, ``StorageError``."""
    clock = clock or SystemClock()
    folder.create()
    async with AsyncExitStack() as stack:
        database = open_database(folder, clock)
        stack.callback(database.close)
        store = Store(database, clock, new_id)
        secrets = SecretStore(folder.secrets)
        http = _Http()
        stack.push_async_callback(http.close)
        logins = await stack.enter_async_context(
            Logins(secrets, folder.root / "logins.lock", client=http.client, clock=clock, new_id=new_id)
        )
        sources = Sources(
            configured=lambda: list_sources(store),
            default=lambda: (
                environment.get("PLANCIA_MODEL") or str(get_setting(store, "model.default")) or None
            ),
            reasoning=lambda: str(get_setting(store, "model.reasoning")),
            order=lambda: list_order(store),
            said=lambda: list_facts(store),
            stored_key=logins.stored_key,
            environment=environment,
            connect=Wiring(
                client=http.client,
                clock=clock,
                load_image=partial(load_picture, folder.root),
                login=logins.login,
            ).connect,
            catalogue=Catalogue.installed(),
            cooldowns=Cooldowns(clock),
        )
        yield Cabinet(folder, store, secrets, sources, environment, logins)


@asynccontextmanager
async def _tasks() -> AsyncIterator[TaskGroup]:
    """A task group from which the one error of the block comes out as itself."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise


def _start(tasks: TaskGroup, work: Callable[[], Awaitable[Any]]) -> None:
    async def take() -> None:
        await work()

    tasks.start_soon(take)


def _machine(base: Cabinet) -> Machine:
    masking = Masking(base.secrets, base.environment)
    jobs = Jobs(base.folder.jobs, base.store.clock, new_id, masking.redact)
    return Machine(
        base.environment, masking.redact, masking.redact_known, jobs, FoundConfinement(find_confinement)
    )


async def _stop_all(bus: Bus) -> None:
    """Runs get their end although the process is being ended."""
    with anyio.CancelScope(shield=True):
        await bus.stop_all()


class _Http:
    """One HTTP client for all model servers, made when the first one is spoken to."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None
        self._lock = threading.Lock()
        # httpx imports its own command line, and with it a highlighter, only to see whether that would work.
        sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None: there is no such module

    def client(self) -> httpx.AsyncClient:
        """Asked for in threads, where models are looked for; two at once get the same one."""
        with self._lock:
            if self._client is None:
                from app.providers.transport import open_client

                self._client = open_client()
            return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
