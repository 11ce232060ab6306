"""Reading a file that does not hold still, or that may not be read."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.undo.history import History
from app.hands.undo.memory import load_memory
from app.hands.undo.taking import read_steady
from app.hands.undo.values import File, Unheld
from app.infra.clock import Clock, SystemClock
from tests.hands.places import write
from tests.hands.undo.workshop import ORIGIN, UNDO, LaterClock, Workshop


class Restless(io.FileIO):
    """Something happens to it in each of its first ``times`` reads."""

    def __init__(self, path: Path, happens: Callable[[], object], times: int) -> None:
        super().__init__(path)
        self._happens, self._left = happens, times

    def read(self, size: int | None = -1, /) -> bytes | None:
        data = super().read(-1 if size is None else size)
        if self._left:
            self._left -= 1
            self._happens()
        return data


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "one")
    with Restless(path, lambda: path.write_text("three"), 1) as file:
        found = read_steady(file, 100)
    assert not isinstance(found, Unheld)
    assert found[1] == b"three"


def test_a_file_that_keeps_changing_is_not_held(tmp_path: Path) -> None:
    path = write(tmp_path / "log", "line\n")

    def append() -> None:
        with path.open("a") as log:
            log.write("line\n")

    with Restless(path, append, 99) as file:
        found = read_steady(file, 1_000)
    assert isinstance(found, Unheld)
    assert found.why == "changing"


def test_a_file_that_has_become_too_large_is_not_held(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "one")
    with Restless(path, lambda: path.write_text("x" * 99), 1) as file:
        assert isinstance(read_steady(file, 50), Unheld)


@pytest.mark.parametrize(("clock", "is_believed"), [(SystemClock(), False), (LaterClock(), True)])
def test_a_stamp_is_not_believed_while_it_is_young(clock: Clock, is_believed: bool, tmp_path: Path) -> None:
    """Written twice within the tick of a clock, a file may keep its stamp; so it is read again until it is old."""
    shop = Workshop(tmp_path)
    shop.write({"a": "one"})
    gate = PathGate(shop.workspace, closed=ClosedPlaces(tmp_path / "home"))
    History(shop.store, gate, clock=clock).take(ORIGIN)
    (path,) = shop.store.glob("*/memory")
    assert load_memory(path).known["a"].is_old is is_believed


def test_what_the_system_does_not_let_us_read_is_noted(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.write({"a": "one", "b/c": "two"})
    (shop.workspace / "a").chmod(0)
    (shop.workspace / "b").chmod(0)
    closed = [name for name in "ab" if not os.access(shop.workspace / name, os.R_OK)]  # none of them to root
    said = shop.history.left_out(shop.take())
    (shop.workspace / "b").chmod(0o700)
    assert list(said) == [f"{name} is not kept: the system does not let Plancia read it." for name in closed]


def test_a_file_that_is_only_closed_to_reading_is_known_from_before(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.write({"a": "one"})
    step = shop.step("chmod 000 a")
    assert isinstance(shop.history.contents(step.after)["a"], File)
    shop.history.restore([step], UNDO)
    assert shop.read("a") == "one"
