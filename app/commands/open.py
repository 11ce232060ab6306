"""``plancia open``: a browser on the page of the running server, logged in."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

import anyio.to_thread

from app.commands.errors import CommandError
from app.commands.running import find_note, find_owner
from app.commands.terminal import Terminal
from app.infra.paths import DataFolder


class Options(argparse.Namespace):
    data_dir: Path | None


async def run(options: Options, terminal: Terminal) -> int:
    """Print the link too: where no browser can be opened, it is the way in.

    Raises ``CommandError``, and ``FolderInUse`` where ``plancia run`` is at work, which has no page.
    """
    folder = DataFolder.at(options.data_dir, terminal.environment)
    running = find_note(folder)
    if running is None or not running.is_alive:
        nobody = CommandError(f"No Plancia is running on {folder.root}. Start one with `plancia`.")
        raise find_owner(folder) or nobody
    terminal.say(running.login)
    if not await anyio.to_thread.run_sync(webbrowser.open, running.login):
        terminal.tell("No browser could be opened. Open the address above in one.")
    return 0
