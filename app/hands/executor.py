"""The one way in which the app runs a command: confined, in an environment made for it, and nothing left behind.

Every command is the child of a supervisor (``command_child.py``), a process of its own that ends all the command
started, whether the call is over, cancelled, or the app itself has died.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from app.engine.watchdog import Stalled, Watchdog
from app.hands.children import leashed, of_ours, output_of
from app.hands.environment import command_environment
from app.hands.errors import Refused
from app.hands.limits import COMMAND_BYTES, COMMAND_GRACE, COMMAND_SECONDS, COMMAND_SECONDS_IN_ALL
from app.hands.offspring import announced
from app.hands.permissions.confinement import Confinement, access_for, cannot_confine
from app.hands.permissions.paths import PathGate
from app.hands.permissions.permit import Permit
from app.infra.crew import Crew

_PATIENCE = COMMAND_GRACE + 6.0
"""Seconds for a supervisor to end what it holds; one that takes longer is stuck."""
_DRAIN_SECONDS = 0.5
"""For output that is still on its way when everything has ended."""


_HEAD = 1_000
_LONGEST_REPORT = 65_536

Report = dict[str, Any] | None
"""What a supervisor said; None where it was killed before it could."""


How = Literal["exit", "timeout", "stopped"]
"""``exit``: by itself; ``timeout`` and ``stopped``: it was ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command came to its end."""

    how: How
    code: int | None
    """None where a signal ended it."""
    signal: int | None
    seconds: float
    left: int = 0
    """Programs it had left running, which were ended with it."""


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs the commands of one conversation, in its workspace."""

    gate: PathGate
    temporary: Path
    """A private folder, made (0700) where it is missing."""
    confinement: Confinement
    environment: Mapping[str, str]
    """The app's own, of which a command is told little."""

    @property
    def folder(self) -> Path:
        """Where every command starts."""
        return self.gate.workspace

    async def run(
        self,
        command: str,
        show: Callable[[bytes], None],
        permit: Permit | None = None,
        *,
        seconds: float = COMMAND_SECONDS,
        in_all: float = COMMAND_SECONDS_IN_ALL,
    ) -> Ended:
        """Give its output to ``show`` as it comes, both streams in one; return when it has ended and nothing is left.

        It is ended once it has shown nothing new for ``seconds``, or ran ``in_all``. Raises ``Refused`` where it
        could not be started, and so did not run.
        """
        told = json.dumps({**self.order(command, permit), "grace": COMMAND_GRACE}).encode() + b"\n"
        watchdog = Watchdog(seconds)
        onlooker = Onlooker(show, watchdog)
        async with leashed(of_ours("app.hands.command_child"), told=told, patience=_PATIENCE) as supervisor:
            async with Crew() as crew:
                reading = crew.start(_read(supervisor, onlooker.see), name="command output")
                begin, end, is_late = await _reports(supervisor, watchdog, in_all)
                await asyncio.wait([reading], timeout=_DRAIN_SECONDS)
                if reading.done():
                    reading.result()
        if end is None or "why" in end:
            _end_group(begin)
            why = end["why"] if end else "its supervisor was killed"
            raise Refused("E_FAILED", f"The command could not be run: {why}. Check it, then try again.")
        if end["how"] == "exit" and not end["begun"]:
            raise cannot_confine(self.confinement.badge.level, onlooker.head.decode(errors="replace"))
        how: How = "timeout" if is_late and end["how"] == "stopped" else end["how"]
        return Ended(how, end["code"], end["signal"], end["seconds"], end["left"])

    def order(self, command: str, permit: Permit | None) -> dict[str, Any]:
        """What a supervisor is told to run: ``argv``, ``folder``, ``environment``. Raises ``Refused``."""
        _check(command)
        if not self.folder.is_dir():
            raise Refused("E_NOT_FOUND", f"The workspace {self.folder} is not there any more. Tell the user.")
        permit = permit or Permit()
        self.temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
        access = access_for(
            (*self.gate.folders, *permit.folders), self.temporary, self.gate.closed, network=permit.network
        )
        variables = command_environment(self.environment, access.temporary, permit.variables)
        shell = shutil.which("bash", path=variables["PATH"]) or "/bin/sh"
        return {
            "argv": self.confinement.wrap(announced((shell, "-c", command)), access),
            "folder": str(self.folder),
            "environment": variables,
        }


@dataclass(slots=True)
class Onlooker:
    """Passes output on, and tells the watchdog what is new: a line that grows is, the same line again is not."""

    show: Callable[[bytes], None]
    watchdog: Watchdog
    head: bytes = b""
    """Why a command did not begin, where it did not."""
    _unfinished: int = 0
    """Bytes of the last line so far."""

    def see(self, piece: bytes) -> None:
        if not piece.isspace():
            self.watchdog.progress(piece.decode("latin-1"), self._unfinished + len(piece), None)
        last = piece.rfind(b"\n")
        self._unfinished = len(piece) - last - 1 + (self._unfinished if last < 0 else 0)
        self.head += piece[: max(0, _HEAD - len(self.head))]
        self.show(piece)


async def _read(supervisor: Process, show: Callable[[bytes], None]) -> None:
    async for piece in output_of(supervisor):
        show(piece)


async def _reports(supervisor: Process, watchdog: Watchdog, in_all: float) -> tuple[Report, Report, bool]:
    """What it said at the beginning and at the end, and whether the end had to be ordered."""
    assert supervisor.stdin is not None, "it was started with pipes"
    assert supervisor.stderr is not None, "it was started with pipes"
    said = BufferedByteReceiveStream(supervisor.stderr)
    begin = await _report(said)
    if begin is None or "why" in begin:
        return None, begin, False
    try:
        with anyio.fail_after(in_all):
            async with watchdog.watch():
                return begin, await _report(said), False
    except (Stalled, TimeoutError):
        await supervisor.stdin.aclose()
    return begin, await _report(said), True


async def _report(said: BufferedByteReceiveStream) -> Report:
    try:
        report: dict[str, Any] = json.loads(await said.receive_until(b"\n", _LONGEST_REPORT))
    except (anyio.IncompleteRead, anyio.DelimiterNotFound, ValueError):
        return None
    return report


def _end_group(begin: Report) -> None:
    """What a supervisor that was killed has left, as far as it is known."""
    if begin is not None:
        with suppress(ProcessLookupError):
            os.killpg(begin["pid"], signal.SIGKILL)


def _check(command: str) -> None:
    if "\0" in command:
        raise Refused("E_BAD_INPUT", "The command has a NUL in it, which no command can have. Write it anew.")
    if len(command.encode(errors="replace")) > COMMAND_BYTES:
        raise Refused(
            "E_TOO_LARGE",
            f"The command has more than {COMMAND_BYTES:,} bytes. Write a script with write_file, then run that.",
        )
