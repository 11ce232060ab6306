"""Atomic writes: whole or absent."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from app.infra.files import write_atomic


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
