"""One process at work on one data folder: everything it needs, opened in order and closed in reverse.

Pages and commands share it, so that a turn from the terminal is the turn of the page.
"""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from app.engine.runner import Harness
from app.group_chat.bus import Bus
from app.group_chat.members import Members
from app.infra.clock import Clock, SystemClock
from app.infra.ids import new_id
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder
from app.infra.secrets import SecretStore
from app.models.database import open_database
from app.providers.catalogue import Catalogue
from app.providers.routing import Sources
from app.providers.wires import Wiring
from app.workspace.model_sources import list_sources
from app.workspace.settings import get_setting
from app.workspace.store import Store

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Workbench:
    """What an open data folder offers to a page or a command."""

    folder: DataFolder
    store: Store
    secrets: SecretStore
    sources: Sources
    bus: Bus
    recovered: int
    """Turns that a crash had cut off and that this start closed."""


@asynccontextmanager
async def open_workbench(
    folder: DataFolder, *, environment: Mapping[str, str] = os.environ, clock: Clock | None = None
) -> AsyncIterator[Workbench]:
    """Take the folder for this process alone until the block is left; then every run is stopped.

    Raises ``DataFolderError``, ``FolderInUse``, ``StorageError``.
    """
    clock = clock or SystemClock()
    folder.create()
    async with AsyncExitStack() as stack:
        stack.enter_context(FolderLock(folder))
        database = open_database(folder, clock)
        stack.callback(database.close)
        store = Store(database, clock, new_id)
        secrets = SecretStore(folder.secrets)
        http = _Http()
        stack.push_async_callback(http.close)
        sources = open_sources(store, secrets, http, environment)
        members = Members(store, folder, Harness(sources, clock, new_id, random.random))
        tasks = await stack.enter_async_context(anyio.create_task_group())
        bus = Bus(store, members, lambda work: tasks.start_soon(work))
        stack.push_async_callback(bus.stop_all)
        yield Workbench(folder, store, secrets, sources, bus, await bus.recover())


def open_sources(store: Store, secrets: SecretStore, http: _Http, environment: Mapping[str, str]) -> Sources:
    return Sources(
        configured=lambda: list_sources(store),
        default=lambda: environment.get("PLANCIA_MODEL") or str(get_setting(store, "model.default")) or None,
        stored_key=secrets.get,
        environment=environment,
        wiring=Wiring(client=http.client, clock=store.clock),
        catalogue=Catalogue(),
    )


class _Http:
    """One HTTP client for all model servers, made when the first one is spoken to."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    def client(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(follow_redirects=False)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
