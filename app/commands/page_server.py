"""uvicorn without its clockwork: it sleeps until a signal instead of looking ten times a second."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from importlib.util import find_spec
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

_PATIENCE = 1
"""Seconds that open requests get after a signal."""


class PageServer(uvicorn.Server):
    """``ready`` is called once requests are answered, ``goodbye`` when a signal has come."""

    def __init__(self, app: ASGIApp, *, ready: Callable[[], None], goodbye: Callable[[], None]) -> None:
        super().__init__(_config(app))
        self.stopped_by: int | None = None
        self._ready = ready
        self._goodbye = goodbye
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def main_loop(self) -> None:
        await self._stop.wait()
        self._goodbye()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal asks for an end, a second Ctrl-C waits for no request any more."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        self.stopped_by = self.stopped_by or sig
        self._loop.call_soon_threadsafe(self._stop.set)


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="httptools" if find_spec("httptools") else "h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_PATIENCE,
    )
