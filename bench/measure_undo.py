"""Snapshots of a workspace of many files: the first one, one of what did not change, and the way back."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.undo.history import History
from app.hands.undo.memory import BELIEVED_AFTER_NS
from app.hands.undo.values import Origin, Step
from bench.figure import Figure

FILES = 10_000
FOLDERS = 500
BYTES = 4_000
ROUNDS = 5
ORIGIN = Origin("conv_bench", "turn_bench")

T = TypeVar("T")


def measure() -> Iterator[Figure]:
    with TemporaryDirectory() as name:
        workspace, store = Path(name, "workspace"), Path(name, "snapshots")
        fill(workspace)
        time.sleep(BELIEVED_AFTER_NS / 1e9)  # until then every file would be read again

        def opened() -> History:
            return History(store, PathGate(workspace, closed=ClosedPlaces(Path(name, "home"))))

        history = opened()
        seconds, before = timed(lambda: history.take(ORIGIN))
        stored = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        raw = f"{before.size / 1e6:.0f} MB, stored in {stored / 1e6:.1f}"
        yield Figure(f"first snapshot of {FILES:,} files", seconds, "s", 3, raw)

        unchanged = [timed(lambda: history.take(ORIGIN))[0] for _ in range(ROUNDS)]
        raw = f"of {min(unchanged):.2f}–{max(unchanged):.2f}"
        yield Figure(f"snapshot of {FILES:,} unchanged files", median(unchanged), "s", 0.3, raw)
        again = [timed(lambda: opened().take(ORIGIN))[0] for _ in range(ROUNDS)]
        yield Figure("the same by a process that has just begun", median(again), "s", 0.5)

        (workspace / "folder0" / "file0.txt").write_text("changed")
        yield Figure("snapshot after one file changed", timed(lambda: history.take(ORIGIN))[0], "s", 0.4)

        shutil.rmtree(workspace / "folder0")
        for folder in list(workspace.iterdir())[:100]:
            shutil.rmtree(folder)
        step = Step(before, history.take(ORIGIN))
        seconds, done = timed(lambda: history.restore([step], ORIGIN))
        yield Figure(
            "removed files brought back", seconds, "s", 3, f"{len(done.changes):,} files and folders"
        )


def fill(workspace: Path) -> None:
    for number in range(FOLDERS):
        folder = workspace / f"folder{number}"
        folder.mkdir(parents=True)
        for file in range(FILES // FOLDERS):
            text = f"def answer_{number}_{file}():\n    return {number * file}\n\n\n"
            (folder / f"file{file}.txt").write_text(text * (BYTES // len(text)))


def timed(work: Callable[[], T]) -> tuple[float, T]:
    begun = time.perf_counter()
    done = work()
    return time.perf_counter() - begun, done
