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
    """The command that runs ``main`` of a module of ours, with the standard library and the named folders only.

    What is added to it is ``sys.argv[1:]`` there.
    """
    start = f"import sys; sys.path += sys.argv.pop(1).splitlines(); from {module} import main; main()"
    folders = "\n".join(map(str, (Path(app.__file__).parents[1], *packages)))
    return (sys.executable, "-I", "-S", "-c", start, folders)


@asynccontextmanager
async def child(command: Sequence[str], *, folder: Path, told: bytes | None = None) -> AsyncIterator[Process]:
    """A running program that is given ``told`` on standard input; what still runs of its group is killed at the end.

    Raises ``OSError`` where it cannot be started.
    """
    has_input = subprocess.DEVNULL if told is None else subprocess.PIPE
    process = await _started(command, folder, has_input, subprocess.DEVNULL)
    try:
        if told is not None:
            await _tell(process, told, to_the_end=True)
        yield process
    finally:
        if process.returncode is None:
            _kill_group(process.pid)
        with anyio.CancelScope(shield=True):
            await process.aclose()


@asynccontextmanager
async def leashed(command: Sequence[str], *, told: bytes, patience: float) -> AsyncIterator[Process]:
    """A supervisor that ends what it started, and itself, once its input is closed; that is done at the end.

    Its standard error is its report. One that does not end within ``patience`` seconds is killed.
    """
    process = await _started(command, Path("/"), subprocess.PIPE, subprocess.PIPE)
    try:
        await _tell(process, told)
        yield process
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(patience):
            await process.aclose()


async def output_of(process: Process) -> AsyncIterator[bytes]:
    """Its standard output, piece by piece."""
    assert process.stdout is not None, "it was started with a pipe"
    async for piece in process.stdout:
        yield piece


async def answer_of(command: Sequence[str], told: bytes, most: int) -> bytes | None:
    """All that a program says to ``told``; None where it broke off or said more than ``most`` bytes.

    Raises ``OSError`` where it cannot be started.
    """
    answer = bytearray()
    async with child(command, folder=Path("/"), told=told) as process:
        async for piece in output_of(process):
            answer += piece
            if len(answer) > most:
                return None
        return bytes(answer) if await process.wait() == 0 else None


def _kill_group(leader: int) -> None:
    """End what still runs of the group that this process leads."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended by itself


async def _started(command: Sequence[str], folder: Path, stdin: int, stderr: int) -> Process:
    with anyio.CancelScope(shield=True):  # a program that is only half started could not be ended
        process = await anyio.open_process(
            command, stdin=stdin, stderr=stderr, cwd=folder, env=_ENVIRONMENT, start_new_session=True
        )
    return process  # noqa: RET504 - a scope may end without a value, as far as types tell


async def _tell(process: Process, told: bytes, *, to_the_end: bool = False) -> None:
    assert process.stdin is not None, "it was started with a pipe"
    try:
        await process.stdin.send(told)
        if to_the_end:
            await process.stdin.aclose()
    except (anyio.BrokenResourceError, ConnectionError):
        pass  # it has ended already: how, its exit code says
