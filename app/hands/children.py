"""Programs that a tool starts for a moment: a bare environment, a group of their own, ended with the call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import Process

import app

_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
"""All that such a program is told: no key, no setting, no proxy."""


def of_ours(module: str, *packages: Path) -> tuple[str, ...]:
    """The command that runs ``main`` of a module of ours, with the standard library and the named folders only."""
    start = f"import sys; sys.path += sys.argv[1:]; from {module} import main; main()"
    folders = map(str, (Path(app.__file__).parents[1], *packages))
    return (sys.executable, "-I", "-S", "-c", start, *folders)


@asynccontextmanager
async def child(command: Sequence[str], *, folder: Path, told: bytes | None = None) -> AsyncIterator[Process]:
    """A running program that is given ``told`` on standard input; what still runs of its group is killed at the end.

    Raises ``OSError`` where it cannot be started.
    """
    with anyio.CancelScope(shield=True):  # a program that is only half started could not be ended
        process = await anyio.open_process(
            command,
            stdin=subprocess.DEVNULL if told is None else subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_ENVIRONMENT,
            start_new_session=True,
        )
    try:
        if told is not None:
            await _tell(process, told)
        yield process
    finally:
        if process.returncode is None:
            _kill_group(process.pid)
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def output_of(process: Process) -> AsyncIterator[bytes]:
    """Its standard output, piece by piece."""
    assert process.stdout is not None, "it was started with a pipe"
    async for piece in process.stdout:
        yield piece


async def _tell(process: Process, told: bytes) -> None:
    assert process.stdin is not None, "it was started with a pipe"
    try:
        await process.stdin.send(told)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, ConnectionError):
        pass  # it has ended already: how, its exit code says


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended by itself
