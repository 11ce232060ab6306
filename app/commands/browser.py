"""The browser of this machine, where there is one."""

from __future__ import annotations

import sys
import webbrowser

import anyio.to_thread

from app.commands.terminal import Terminal


async def open_browser(url: str) -> bool:
    """Whether there is a browser; one that lives in the terminal is not waited for."""
    return await anyio.to_thread.run_sync(webbrowser.open, url, abandon_on_cancel=True)


def has_screen(terminal: Terminal) -> bool:
    environment = terminal.environment
    return bool(sys.platform == "darwin" or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
