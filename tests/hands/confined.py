"""Executors for tests, on every mechanism of confinement that this machine really has, and on none as their control."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from app.hands.executor import Ended, Executor
from app.hands.permissions.bubblewrap import Bubblewrap
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.confinement import Confinement, Mechanism, Unconfined, probe
from app.hands.permissions.landlock import Landlock
from app.hands.permissions.paths import PathGate
from app.hands.permissions.permit import Permit
from app.hands.permissions.sandbox_exec import SandboxExec
from tests.hands.places import Machine


def _there() -> list[Mechanism]:
    program = shutil.which("bwrap")
    known: list[Mechanism] = [Landlock(), SandboxExec(), *([Bubblewrap(program)] if program else [])]
    return [mechanism for mechanism in known if anyio.run(_holds, mechanism)]


async def _holds(mechanism: Mechanism) -> bool:
    try:
        return (await probe(mechanism)).holds
    except OSError:
        return False


CONFINED = _there()
EVERY = [Unconfined(), *CONFINED]
ADOPTS = sys.platform == "linux"
"""Whether what a command leaves in a session of its own is found."""


def name_of(mechanism: Mechanism) -> str:
    return mechanism.badge.level


@dataclass(slots=True)
class Commands:
    """An executor, and all that its last command wrote."""

    executor: Executor
    output: bytearray
    mark: str
    """Carried by every process of a command in its environment, so that what is left can be found."""

    @classmethod
    def on(
        cls,
        machine: Machine,
        mechanism: Mechanism,
        *,
        workspace: Path | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> Commands:
        own = machine.home / ".local/share/app"
        closed = ClosedPlaces(machine.home, own=(own,), opened=(own / "attachments",))
        gate = PathGate(workspace or machine.workspace, closed=closed)
        told = {**environment, "HOME": str(machine.home)}
        executor = Executor(gate, own / "temporary", Confinement(mechanism), told)
        return cls(executor, bytearray(), f"mark-{os.urandom(8).hex()}")

    async def run(self, command: str, *, network: bool = False, seconds: float = 60.0) -> Ended:
        self.output.clear()
        permit = Permit(network, variables={"MARK": self.mark})
        return await self.executor.run(command, self.output.extend, permit, seconds=seconds)

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")

    @property
    def left(self) -> list[str]:
        """What still runs of its commands."""
        return left_with(self.mark)


def left_with(mark: str) -> list[str]:
    """Processes whose environment has the mark, where the system tells (Linux)."""
    found = []
    for place in Path("/proc").glob("[0-9]*") if ADOPTS else ():
        with suppress(OSError):
            if mark.encode() in (place / "environ").read_bytes():
                found.append(f"{place.name} {(place / 'cmdline').read_bytes()!r}")
    return found
