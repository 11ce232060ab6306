"""A store whose writing may end at any moment: what was kept stays readable, what was not leaves nothing."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import get_args

import pytest

from app.hands.errors import SnapshotTrouble
from app.hands.undo.packs import Packs, PackWriter, digest_of
from tests.fakes.disk import CuttableDisk, Fate, FaultyDisk, PowerCut
from tests.hands.undo.workshop import ORIGIN, UNDO, Workshop, picture_of


def keep(packs: Packs, name: str, *contents: bytes) -> None:
    with PackWriter(packs, f"{name}.pack") as writer:
        for data in contents:
            writer.put(data)
        writer.finish()


def fresh(folder: Path) -> Packs:
    packs = Packs(folder)
    packs.refresh()
    return packs


@pytest.mark.parametrize(
    "data", [b"", b"short", b"a line that comes again\n" * 10_000, bytes(range(256)) * 9]
)
def test_a_content_comes_back_as_it_was(data: bytes, tmp_path: Path) -> None:
    keep(Packs(tmp_path), "one", data)
    assert fresh(tmp_path).read(digest_of(data)) == data


def test_text_takes_less_room_and_the_same_content_none(tmp_path: Path) -> None:
    packs = Packs(tmp_path)
    keep(packs, "one", b"a line that comes again\n" * 10_000)
    assert (tmp_path / "one.pack").stat().st_size < 10_000
    keep(packs, "two", b"a line that comes again\n" * 10_000)
    assert not (tmp_path / "two.pack").exists()


def test_what_is_not_live_goes_and_the_rest_stays_readable(tmp_path: Path) -> None:
    packs = Packs(tmp_path)
    keep(packs, "one", b"live", b"dead" * 100)
    keep(packs, "two", b"also dead")
    keep(packs, "three", b"live too")
    packs.keep_only({digest_of(b"live"), digest_of(b"live too")}, slack=0.2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.pack", "three.pack"]
    assert [fresh(tmp_path).read(digest_of(data)) for data in (b"live", b"live too")] == [
        b"live",
        b"live too",
    ]
    assert digest_of(b"dead" * 100) not in fresh(tmp_path)


def test_a_pack_in_which_little_is_dead_is_not_written_anew(tmp_path: Path) -> None:
    packs = Packs(tmp_path)
    keep(packs, "one", b"live" * 100, b"dead")
    before = (tmp_path / "one.pack").stat()
    packs.keep_only({digest_of(b"live" * 100)}, slack=0.5)
    assert (tmp_path / "one.pack").stat() == before


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_what_a_damaged_pack_held_is_kept_anew(cut: int, tmp_path: Path) -> None:
    keep(Packs(tmp_path), "one", b"data" * 20)
    path = tmp_path / "one.pack"
    path.write_bytes(path.read_bytes()[:cut])
    packs = fresh(tmp_path)
    with pytest.raises(SnapshotTrouble, match="or is damaged"):
        packs.read(digest_of(b"data" * 20))
    keep(packs, "two", b"data" * 20)
    assert packs.read(digest_of(b"data" * 20)) == b"data" * 20


@pytest.mark.parametrize("fate", get_args(Fate))
def test_a_power_cut_at_any_write_leaves_a_store_that_works(fate: Fate, tmp_path: Path) -> None:
    for cut in itertools.count(1):
        shop = Workshop(tmp_path / str(cut))
        shop.write({"a": "one", "sub/b": "bee"})
        first = shop.take()
        before = picture_of(shop.workspace)
        shop.write({"a": "two", "sub/c": "new"})
        try:
            shop.open(disk=CuttableDisk(cut, fate)).take(ORIGIN)
            finished = True
        except PowerCut:
            finished = False
        history = shop.open()
        kept = history.snapshots()
        assert kept[0] == first
        assert all(history.contents(snapshot) for snapshot in kept)
        step = type(shop.step("true"))(first, history.take(ORIGIN))
        history.restore([step], UNDO)
        assert picture_of(shop.workspace) == before
        if finished:
            assert cut > 10
            return


def test_a_write_that_the_disk_refuses_is_said_and_leaves_no_litter(tmp_path: Path) -> None:
    said = set()
    call = 0
    for call in itertools.count(1):
        shop = Workshop(tmp_path / str(call))
        shop.write({"a": "one"})
        disk = FaultyDisk(call)
        history = shop.open(disk=disk)
        try:
            history.take(ORIGIN)
        except SnapshotTrouble as error:
            said.add(error.sentence.partition(": ")[2].partition(".")[0])
        else:
            break
        assert [path for path in shop.store.rglob("*") if path.suffix == ".writing"] == []
        assert shop.take().files == 1
    assert said == {"No space left on device"}
    assert call > 10
