"""The budget of the store: the oldest snapshots go first, those of the newest turn never."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.hands.errors import SnapshotTrouble
from app.hands.undo.limits import Limits
from app.hands.undo.pruning import forget
from app.hands.undo.values import Origin, Snapshot
from app.infra.locks import Turn
from tests.hands.undo.workshop import UNDO, Workshop, picture_of

BYTES = 10_000
SMALL = Limits(store_bytes=10 * BYTES)


def turns(shop: Workshop, count: int, conversation: str = "conv_a") -> list[Snapshot]:
    """One snapshot a turn, each with a content that nothing compresses."""
    taken = []
    for number in range(count):
        shop.write({"a": os.urandom(BYTES)})
        taken.append(shop.take(Origin(conversation, f"turn_{number}")))
    return taken


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_oldest_go_and_what_is_left_can_be_restored(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, SMALL)
    shop.write({"always": "the same in all of them"})
    taken = turns(shop, 30)
    kept = shop.history.snapshots()
    assert 3 <= len(kept) < 10
    assert list(kept) == taken[-len(kept) :]
    assert size_of(shop.store) <= SMALL.store_bytes
    assert all(shop.open().contents(snapshot).keys() == {"a", "always"} for snapshot in kept)
    with pytest.raises(SnapshotTrouble, match="given up for newer ones"):
        shop.history.contents(taken[0])


def test_a_turn_that_is_larger_than_the_budget_keeps_all_its_snapshots(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, SMALL)
    start = picture_of(shop.workspace)
    turns(shop, 3)
    steps = [shop.step(f"head -c {BYTES} /dev/urandom > b", Origin("conv_a", "turn_long")) for _ in range(15)]
    assert {each.turn for each in shop.history.snapshots()} == {"turn_long"}
    shop.history.restore(steps, UNDO)
    assert picture_of(shop.workspace).keys() == start.keys() | {"a"}


def test_a_conversation_is_forgotten_with_what_it_alone_needed(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    gone = turns(shop, 3)
    shop.write({"a": "the same in both"})
    (other,) = turns(shop, 1, "conv_b")
    size = size_of(shop.store)
    forget(shop.store, "conv_a")
    assert shop.history.snapshots() == (other,)
    assert shop.open().contents(other).keys() == {"a"}
    assert size - size_of(shop.store) > 2 * BYTES
    with pytest.raises(SnapshotTrouble):
        shop.open().contents(gone[0])
    step = shop.step("echo more >> a", Origin("conv_b", "turn_next"))
    shop.history.restore([step], UNDO)


def test_of_a_folder_that_only_it_worked_in_nothing_stays(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    turns(shop, 2)
    forget(shop.store, "conv_none")
    assert len(shop.history.snapshots()) == 2
    forget(shop.store, "conv_a")
    assert list(shop.store.iterdir()) == []
    assert shop.open().take(Origin("conv_b", "turn_1")).files == 1


def test_where_nothing_was_ever_kept_there_is_nothing_to_forget(tmp_path: Path) -> None:
    forget(tmp_path / "none", "conv_a")


def test_the_newest_turn_of_another_conversation_goes_last(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, SMALL)
    (other,) = turns(shop, 1, "conv_b")
    turns(shop, 20)
    assert other in shop.history.snapshots()
    for number in range(15):
        shop.write({"a": os.urandom(BYTES)})
        shop.take(Origin("conv_a", "turn_of_its_own" if number else "turn_before"))
    assert other not in shop.history.snapshots()


def test_the_budget_is_one_for_all_workspaces(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, SMALL)
    home = shop.folder / "home"
    (home / "b").write_bytes(os.urandom(BYTES))
    other = shop.open(home)
    for number in range(3):
        (home / "b").write_bytes(os.urandom(BYTES))
        other.take(Origin("conv_b", f"turn_{number}"))
    turns(shop, 12)
    assert [each.turn for each in other.snapshots()] == ["turn_2"]
    assert size_of(shop.store) <= SMALL.store_bytes


def test_a_workspace_in_which_somebody_is_at_work_is_not_touched(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, SMALL)
    other = shop.open(shop.folder / "home")
    taken = other.take(Origin("conv_b", "turn_1"))
    (folder,) = shop.store.iterdir()
    with Turn(folder):
        turns(shop, 20)
    assert other.snapshots() == (taken,)


def test_snapshots_are_counted_as_well(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, Limits(snapshots=10))
    taken = [shop.take(Origin("conv_a", f"turn_{number}")) for number in range(40)]
    kept = shop.history.snapshots()
    assert 7 <= len(kept) <= 20
    assert list(kept) == taken[-len(kept) :]


def test_a_restore_keeps_what_it_needs_until_it_is_done(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, SMALL)
    shop.write({"a": os.urandom(8 * BYTES)})
    before = picture_of(shop.workspace)
    step = shop.step(f"head -c {8 * BYTES} /dev/urandom > a", Origin("conv_a", "turn_1"))
    shop.history.restore([step], UNDO)
    assert picture_of(shop.workspace) == before
