"""A workspace with a history of snapshots, and every byte of a folder as a value to compare."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.undo.history import History
from app.hands.undo.limits import LIMITS, Limits
from app.hands.undo.values import Origin, Snapshot, Step
from app.infra.clock import SystemClock
from app.infra.files import Disk
from tests.fakes.disk import CountingDisk

ORIGIN = Origin("conv_a", "turn_1")
UNDO = Origin("conv_a", "turn_undo")


class LaterClock(SystemClock):
    """Far enough ahead for every stamp to be believed at once."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=1)


@dataclass
class Workshop:
    folder: Path
    limits: Limits = LIMITS
    disk: Disk = field(default_factory=CountingDisk)

    def __post_init__(self) -> None:
        self.workspace.mkdir(parents=True, exist_ok=True)
        (self.folder / "home").mkdir(exist_ok=True)
        self.history = self.open()

    @property
    def workspace(self) -> Path:
        return self.folder / "ws"

    @property
    def store(self) -> Path:
        return self.folder / "snapshots"

    def open(self, workspace: Path | None = None, disk: Disk | None = None) -> History:
        """Another history on the same store, as a new process has it."""
        closed = ClosedPlaces(self.folder / "home", own=(self.store,))
        gate = PathGate(workspace or self.workspace, closed=closed)
        return History(self.store, gate, limits=self.limits, clock=LaterClock(), disk=disk or self.disk)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for path, text in files.items():
            place = self.workspace / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, path: str) -> str:
        return (self.workspace / path).read_text(encoding="utf-8")

    def take(self, origin: Origin = ORIGIN) -> Snapshot:
        return self.history.take(origin)

    def step(self, script: str, origin: Origin = ORIGIN) -> Step:
        """A command of an agent, between two snapshots."""
        before = self.take(origin)
        bash(script, self.workspace)
        return Step(before, self.take(origin))


def bash(script: str, folder: Path) -> None:
    program = shutil.which("bash")
    assert program, "the stories need bash"
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Ada"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ada@example.org"),
    }
    subprocess.run([program, "-ec", script], check=True, cwd=folder, env=environment, capture_output=True)


def picture_of(folder: Path, *, without: str = "") -> dict[str, tuple[str, bytes]]:
    """Everything below a folder: kind and mode, and content or target; less what lies in ``without``."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if without and name.split("/")[0] == without:
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[name] = ("link", os.fsencode(path.readlink()))
        else:
            found[name] = (f"{mode:o}", path.read_bytes() if stat.S_ISREG(mode) else b"")
    return found
