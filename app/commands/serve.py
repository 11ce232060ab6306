"""``plancia serve``: the page on one socket, until a signal.

The socket is taken first and the workbench opened next, so that whatever stands in the way is said in words;
the one line on stdout comes when a browser would be answered.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import anyio
from starlette.types import Receive, Scope, Send

from app.commands.browser import has_screen, open_browser
from app.commands.daily_backup import keep_backups
from app.commands.errors import UsageError
from app.commands.page_server import PageServer
from app.commands.running import Running, forget, remember
from app.commands.sockets import HOST, PortTaken, chosen_port, is_loopback, listen, url_of
from app.commands.terminal import Terminal
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder
from app.workbench import Workbench, open_workbench
from app.workspace.folders import usable_folder


class Page(Protocol):
    """The page of an open workbench, as an ASGI application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def goodbye(self) -> None:
        """End every open stream: the server is about to stop."""
        ...


class MakePage(Protocol):
    """Makes the page of an open workbench. Raises ``InfraError``."""

    def __call__(
        self, bench: Workbench, *, host: str, port: int, token: str, workspace: Path | None
    ) -> Page: ...


class Options(argparse.Namespace):
    """None: not given."""

    data_dir: Path | None
    host: str | None
    port: int | None
    workspace: Path | None
    open: bool | None
    token: str | None


async def run(options: Options, terminal: Terminal, make_page: MakePage) -> int:
    """Serve until SIGTERM (0) or Ctrl-C (130)."""
    folder = DataFolder.at(options.data_dir, terminal.environment)
    host = options.host or terminal.environment.get("PLANCIA_HOST") or HOST
    token = _token(options, terminal, host)
    if options.workspace is not None:
        usable_folder(options.workspace)
    with _listening(host, chosen_port(options.port, terminal.environment), folder) as listener:
        async with (
            open_workbench(folder, environment=terminal.environment) as bench,
            anyio.create_task_group() as tasks,
        ):
            bound = listener.getsockname()
            running = Running(url_of(*bound[:2]), token, os.getpid())
            page = make_page(bench, host=host, port=bound[1], token=token, workspace=options.workspace)

            def ready() -> None:
                remember(folder, running)
                terminal.say(f"Plancia is ready: {running.login}")
                tasks.start_soon(keep_backups, folder, bench.store.clock)
                if options.open if options.open is not None else has_screen(terminal):
                    tasks.start_soon(open_browser, running.login)

            server = PageServer(page, ready=ready, goodbye=page.goodbye)
            try:
                await server.serve([listener])
            finally:
                forget(folder)
                tasks.cancel_scope.cancel()
    return 130 if server.stopped_by == signal.SIGINT else 0


def _token(options: Options, terminal: Terminal, host: str) -> str:
    chosen = options.token or terminal.environment.get("PLANCIA_TOKEN")
    if chosen and not (chosen.isascii() and chosen.isprintable() and " " not in chosen):
        raise UsageError(
            "A token is made of letters, digits and signs without spaces. Choose another with --token."
        )
    if not chosen and not is_loopback(host):
        raise UsageError(
            f"--host {host} lets other machines reach Plancia, so it needs a token of your choice: add --token, or "
            "set PLANCIA_TOKEN."
        )
    return chosen or secrets.token_urlsafe(24)


@contextmanager
def _listening(host: str, port: int, folder: DataFolder) -> Iterator[socket.socket]:
    """The socket; where it is this folder's own server that has the port, that is what is said."""
    try:
        listener = listen(host, port)
    except PortTaken:
        if folder.lock.exists():
            FolderLock(folder).acquire()
        raise
    with listener:
        yield listener
