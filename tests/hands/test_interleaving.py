"""Two runs at the same file at the very same time: the later one is told what stands there, nothing is lost.

A change can stand still at one place only, its last look for a stop: after all comparing, before the disk is
touched. There the tests let the other run, or another program, do its part.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest

from app.hands.changes import delete_file, edit_file, write_file
from app.hands.errors import Refused
from app.hands.ledger import ReadLedger, content_hash
from app.hands.permissions.paths import PathGate
from app.hands.terminal_text import as_it_is
from tests.hands.places import Machine, write

START = "alpha\n"
KINDS = ("write", "edit", "delete")
PAIRS = list(product(KINDS, repeat=2))
ORDERS = ["ABab", "ABba", "AaBb", "BAab", "BAba", "BbAa"]
"""Of two runs: capitals read, small letters change."""


def nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Run:
    """A run with a ledger of its own; ``kind`` is how it changes the file."""

    gate: PathGate
    kind: str
    name: str
    ledger: ReadLedger = field(default_factory=ReadLedger)

    @property
    def path(self) -> Path:
        return self.gate.workspace / "a.txt"

    def read(self) -> None:
        self.ledger.note(self.path, content_hash(self.path.read_bytes()))

    def change(self, before_the_disk: Callable[[], None] = nothing) -> str:
        """The code it was refused with, or ``done``."""
        try:
            match self.kind:
                case "write":
                    arguments = {"path": "a.txt", "content": f"{self.name}\n"}
                    write_file(self.gate, self.ledger, as_it_is, arguments, before_the_disk)
                case "edit":
                    arguments = {"path": "a.txt", "old_string": "alpha", "new_string": self.name}
                    edit_file(self.gate, self.ledger, as_it_is, arguments, before_the_disk)
                case _:
                    delete_file(self.gate, self.ledger, {"path": "a.txt"}, before_the_disk)
        except Refused as refused:
            return refused.code
        return "done"

    @property
    def left(self) -> str | None:
        """What stands there where it was the only one."""
        return None if self.kind == "delete" else f"{self.name}\n"


@pytest.fixture
def gate(tmp_path: Path) -> PathGate:
    gate = Machine.made_in(tmp_path).gate()
    os.utime(write(gate.workspace / "a.txt", START), (1, 1))  # clocks of files tick slowly
    return gate


def content(gate: PathGate) -> str | None:
    path = gate.workspace / "a.txt"
    return path.read_text() if path.exists() else None


def leftovers(gate: PathGate) -> Iterator[str]:
    return (path.name for path in gate.workspace.iterdir() if path.name.startswith("."))


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("order", ORDERS)
def test_in_every_order_of_reading_and_changing_the_later_one_is_told(
    gate: PathGate, first: str, second: str, order: str
) -> None:
    runs = {"a": Run(gate, first, "one"), "b": Run(gate, second, "two")}
    outcomes: dict[str, str] = {}
    for step in order:
        run = runs[step.lower()]
        if step.isupper():
            if content(gate) is not None:
                run.read()
        else:
            outcomes[step] = run.change()
    early, late = [step for step in order if step.islower()]
    assert outcomes[early] == "done"
    if order.index(late.upper()) < order.index(early):
        assert outcomes[late] in ("E_STALE", "E_NOT_FOUND")
        assert content(gate) == runs[early].left


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_one_that_comes_while_the_other_is_at_it_waits_and_is_told(
    gate: PathGate, first: str, second: str
) -> None:
    one, other = Run(gate, first, "one"), Run(gate, second, "two")
    one.read()
    other.read()
    with ThreadPoolExecutor(1) as pool:
        started = threading.Event()
        later = []

        def begin() -> str:
            started.set()
            return other.change()

        def meanwhile() -> None:
            later.append(pool.submit(begin))
            started.wait()

        assert one.change(meanwhile) == "done"
        assert later[0].result() in ("E_STALE", "E_NOT_FOUND")
    assert content(gate) == one.left
    assert list(leftovers(gate)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("saved", ["saved by an editor\n", "omega\n"], ids=["longer", "as long"])
def test_what_another_program_saves_in_the_last_moment_is_kept(gate: PathGate, kind: str, saved: str) -> None:
    run = Run(gate, kind, "one")
    run.read()
    assert run.change(lambda: run.path.write_text(saved) and None) == "E_STALE"
    assert content(gate) == saved
    assert list(leftovers(gate)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_another_program_renames_over_it_is_kept(gate: PathGate, kind: str) -> None:
    run, saved = Run(gate, kind, "one"), write(gate.workspace / "saved", START)
    run.read()
    assert run.change(lambda: saved.rename(run.path) and None) == "E_STALE"
    assert content(gate) == START


@pytest.mark.parametrize("kind", KINDS)
def test_what_another_program_deletes_in_the_last_moment_stays_deleted(gate: PathGate, kind: str) -> None:
    run = Run(gate, kind, "one")
    run.read()
    assert run.change(run.path.unlink) == "E_FAILED"
    assert content(gate) is None
    assert list(leftovers(gate)) == []


def test_a_new_file_that_another_program_makes_in_the_last_moment_is_kept(gate: PathGate) -> None:
    path = gate.workspace / "a.txt"
    path.unlink()
    run = Run(gate, "write", "one")
    assert run.change(lambda: path.write_text("first") and None) == "E_STALE"
    assert content(gate) == "first"


@pytest.mark.parametrize("kinds", [("write",) * 8, ("edit",) * 8, KINDS * 3])
def test_of_many_threads_that_change_at_once_one_wins(gate: PathGate, kinds: tuple[str, ...]) -> None:
    runs = [Run(gate, kind, f"run {number}") for number, kind in enumerate(kinds)]
    for run in runs:
        run.read()
    together = threading.Barrier(len(runs))

    def work(run: Run) -> str:
        together.wait()
        return run.change()

    with ThreadPoolExecutor(len(runs)) as pool:
        outcomes = list(pool.map(work, runs))
    assert outcomes.count("done") == 1
    assert set(outcomes) - {"done"} <= {"E_STALE", "E_NOT_FOUND"}
    assert content(gate) == runs[outcomes.index("done")].left
