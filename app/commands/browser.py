"""The browser of this machine, where there is one."""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from contextlib import suppress
from threading import Thread

from app.commands.terminal import Terminal


async def open_browser(url: str) -> bool:
    """Whether there is a browser. One that lives in the terminal ends when it likes: no command waits for it."""
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[bool] = loop.create_future()

    def tell(found: bool) -> None:
        if not opened.done():
            opened.set_result(found)

    def run() -> None:
        try:
            found = webbrowser.open(url)
        except (webbrowser.Error, OSError):
            found = False
        with suppress(RuntimeError):  # the loop has ended, and the command with it
            loop.call_soon_threadsafe(tell, found)

    Thread(target=run, name="browser", daemon=True).start()
    return await opened


def has_screen(terminal: Terminal) -> bool:
    environment = terminal.environment
    return bool(sys.platform == "darwin" or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
