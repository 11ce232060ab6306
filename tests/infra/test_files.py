"""Files are whole or absent, or only grow; never something between."""

from __future__ import annotations

import itertools
import stat
from pathlib import Path
from typing import get_args

import pytest

from app.infra.files import FileShrunk, append_lines, set_tail_aside, write_atomic
from tests.fakes.disk import CountingDisk, CuttableDisk, Fate, FaultyDisk, PowerCut


def names(folder: Path) -> list[str]:
    return sorted(child.name for child in folder.iterdir())


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.json", b"{}")
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600


def test_the_mode_is_the_one_asked_for(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.txt", b"", mode=0o644)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


def test_an_old_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old and longer")
    write_atomic(tmp_path / "a", b"new")
    assert [(child.name, child.read_bytes()) for child in tmp_path.iterdir()] == [("a", b"new")]


def test_a_failure_leaves_the_old_state_and_no_litter(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "inside").touch()
    with pytest.raises(IsADirectoryError):
        write_atomic(tmp_path / "a", b"new")
    assert sorted(child.name for child in tmp_path.rglob("*")) == ["a", "inside"]


def test_a_reader_that_opened_before_still_reads_the_old_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("rb") as reader:
        write_atomic(tmp_path / "a", b"new")
        assert reader.read() == b"old"


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"untouched")
    (tmp_path / "a").symlink_to(tmp_path / "target")
    write_atomic(tmp_path / "a", b"new")
    assert not (tmp_path / "a").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"untouched"


@pytest.mark.parametrize("fate", get_args(Fate))
def test_a_power_cut_leaves_the_old_bytes_or_the_new_ones(fate: Fate, tmp_path: Path) -> None:
    for cut in itertools.count(1):
        path = tmp_path / f"a{cut}"
        path.write_bytes(b"old")
        try:
            write_atomic(path, b"new and longer", disk=CuttableDisk(cut, fate))
        except PowerCut:
            assert path.read_bytes() in (b"old", b"new and longer")
        else:
            assert path.read_bytes() == b"new and longer"
            return


@pytest.mark.parametrize("call", range(1, 7))
def test_a_replacement_that_the_disk_refuses_at_any_call_leaves_no_litter(call: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, b"new and longer", disk=FaultyDisk(call))
    assert names(tmp_path) == ["a"]
    assert path.read_bytes() == (
        b"old" if call <= 4 else b"new and longer"
    )  # the last two name it in its folder
    write_atomic(path, b"newest", disk=FaultyDisk(7))
    assert path.read_bytes() == b"newest"


def test_lines_are_added_to_the_end_of_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    size = append_lines(path, b"one\n", size=0)
    assert append_lines(path, b"two\nthree\n", size=size) == 14
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_line_without_its_end_gets_one_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one")
    assert append_lines(path, b"two\n", size=3) == 8
    assert path.read_bytes() == b"one\ntwo\n"


def test_nothing_is_added_to_a_file_that_lost_something(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"on")
    with pytest.raises(FileShrunk):
        append_lines(path, b"two\n", size=4)
    assert path.read_bytes() == b"on"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        append_lines(path, b"two\n", size=4)
    assert names(tmp_path) == []


def test_one_write_carries_all_lines_of_a_call(tmp_path: Path) -> None:
    disk = CountingDisk()
    size = append_lines(tmp_path / "a", b"one\ntwo\n", size=0, disk=disk)
    first = disk.calls
    append_lines(tmp_path / "a", b"three\n" * 1000, size=size, disk=disk)
    assert (first, disk.calls - first) == (
        5,
        3,
    )  # open, write, sync; a new file also opens and syncs its folder


@pytest.mark.parametrize("call", [1, 2, 3, 4, 5])
def test_a_failed_append_leaves_the_file_as_it_was(call: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(OSError, match="No space left"):
        append_lines(path, b"one\n", size=0, disk=FaultyDisk(call))
    assert not path.exists() or path.read_bytes() == b""
    size = append_lines(path, b"one\n", size=0)
    if call <= 3:
        with pytest.raises(OSError, match="No space left"):
            append_lines(path, b"two\n", size=size, disk=FaultyDisk(call))
    assert path.read_bytes() == b"one\n"


def test_bytes_that_cannot_be_taken_back_stay_apart_from_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "a"
    size = append_lines(path, b"one\n", size=0)
    with pytest.raises(OSError, match="No space left"):
        append_lines(path, b"two two\n", size=size, disk=FaultyDisk(2, 3))
    append_lines(path, b"three\n", size=size)
    assert path.read_bytes() == b"one\ntwo \nthree\n"


@pytest.mark.parametrize("fate", get_args(Fate))
def test_a_power_cut_during_an_append_loses_nothing_older(fate: Fate, tmp_path: Path) -> None:
    for cut in itertools.count(1):
        path = tmp_path / f"a{cut}"
        size = append_lines(path, b"one\n", size=0)
        try:
            append_lines(path, b"two two\n", size=size, disk=CuttableDisk(cut, fate))
        except PowerCut:
            assert path.read_bytes() in (b"one\n", b"one\ntwo two\n", b"one\ntwo ")
        else:
            assert path.read_bytes() == b"one\ntwo two\n"
            return


@pytest.mark.parametrize("fate", get_args(Fate))
def test_a_tail_that_is_set_aside_is_never_lost_on_the_way(fate: Fate, tmp_path: Path) -> None:
    for cut in itertools.count(1):
        path = tmp_path / str(cut) / "a"
        path.parent.mkdir()
        path.write_bytes(b"one\ntor")
        try:
            set_tail_aside(path, 4, CuttableDisk(cut, fate))
        except PowerCut:
            tails = [tail.read_bytes() for tail in path.parent.glob("a.torn-*")]
            assert path.read_bytes() == b"one\ntor" or (path.read_bytes() == b"one\n" and tails == [b"tor"])
            if path.read_bytes() != b"one\n":
                set_tail_aside(path, 4)
            assert path.read_bytes() == b"one\n"
            assert [tail.read_bytes() for tail in path.parent.glob("a.torn-*")] == [b"tor"]
        else:
            return


@pytest.mark.parametrize("call", range(1, 10))
def test_a_tail_that_the_disk_refuses_to_move_is_moved_the_next_time(call: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\ntor")
    with pytest.raises(OSError, match="No space left"):
        set_tail_aside(path, 4, FaultyDisk(call))
    tails = list(tmp_path.glob("a.torn-*"))
    assert path.read_bytes() == b"one\ntor" or [tail.read_bytes() for tail in tails] == [b"tor"]
    if path.read_bytes() != b"one\n":
        set_tail_aside(path, 4, FaultyDisk(10))
    assert path.read_bytes() == b"one\n"
    assert [tail.read_bytes() for tail in tmp_path.glob("a.torn-*")] == [b"tor"]


def test_two_tails_of_one_place_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for tail in (b"tor", b"rot"):
        path.write_bytes(b"one\n" + tail)
        assert set_tail_aside(path, 4).read_bytes() == tail
    assert len(names(tmp_path)) == 3
