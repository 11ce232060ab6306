"""Writing to a checked place: whole or not at all, never through another name, with the mode it had."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from app.hands.errors import Refused
from app.hands.permissions.paths import PathGate
from tests.hands.places import Machine, write


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


def put(gate: PathGate, path: str, data: bytes) -> None:
    with gate.find(path, "write") as place:
        place.replace(data)


def test_a_hard_link_is_broken_and_the_other_name_keeps_its_content(machine: Machine) -> None:
    os.link(machine.outside / "plain.txt", machine.workspace / "same.txt")
    put(machine.gate(), "same.txt", b"new")
    assert (machine.workspace / "same.txt").read_bytes() == b"new"
    assert (machine.outside / "plain.txt").read_bytes() == b"plain\n"


def test_an_ordinary_hard_link_can_be_read(machine: Machine) -> None:
    os.link(machine.workspace / "a.txt", machine.workspace / "same.txt")
    with machine.gate().find("same.txt", "read") as place, place.open_file() as file:
        assert file.read() == b"alpha\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o444])
def test_a_rewritten_file_keeps_its_mode(machine: Machine, mode: int) -> None:
    path = machine.workspace / "a.txt"
    path.chmod(mode)
    put(machine.gate(), "a.txt", b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_and_its_folders_have_the_mode_of_the_user(machine: Machine) -> None:
    before = os.umask(0o027)
    try:
        put(machine.gate(), "deep/er/new.txt", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((machine.workspace / "deep/er/new.txt").stat().st_mode) == 0o640
    assert stat.S_IMODE((machine.workspace / "deep/er").stat().st_mode) == 0o750


def test_what_appeared_meanwhile_is_not_overwritten(machine: Machine) -> None:
    with machine.gate().find("deep/new.txt", "write") as place:
        write(machine.workspace / "deep/new.txt", "somebody else's")
        with pytest.raises(Refused, match="E_STALE"):
            place.replace(b"mine")
    assert (machine.workspace / "deep/new.txt").read_text() == "somebody else's"
    assert [path.name for path in (machine.workspace / "deep").iterdir()] == ["new.txt"]


def test_a_link_that_appeared_meanwhile_is_neither_replaced_nor_followed(machine: Machine) -> None:
    with machine.gate().find("a.txt", "write") as place:
        (machine.workspace / "a.txt").unlink()
        (machine.workspace / "a.txt").symlink_to(machine.outside / "plain.txt")
        with pytest.raises(Refused, match="E_STALE"):
            place.replace(b"mine")
    assert (machine.outside / "plain.txt").read_text() == "plain\n"
    assert (machine.workspace / "a.txt").is_symlink()


def test_what_was_replaced_can_be_replaced_again(machine: Machine) -> None:
    with machine.gate().find("new.txt", "write") as place:
        for data in (b"one", b"two", b"three"):
            place.replace(data)
    assert (machine.workspace / "new.txt").read_text() == "three"


def test_something_else_that_has_the_name_by_now_is_not_deleted(machine: Machine) -> None:
    other = write(machine.workspace / "other.txt", "somebody else's")
    with machine.gate().find("a.txt", "delete") as place:
        other.rename(machine.workspace / "a.txt")
        with pytest.raises(Refused, match="E_STALE"):
            place.delete()
    assert (machine.workspace / "a.txt").read_text() == "somebody else's"


def test_a_folder_that_became_a_link_meanwhile_is_not_entered(machine: Machine) -> None:
    with machine.gate().find("deep/new.txt", "write") as place:
        (machine.workspace / "deep").symlink_to(machine.outside)
        with pytest.raises(Refused, match="E_FAILED"):
            place.replace(b"mine")
    assert not (machine.outside / "new.txt").exists()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(machine: Machine) -> None:
    with machine.gate().find("sub/b.txt", "write") as place:
        (machine.workspace / "sub/b.txt").unlink()
        (machine.workspace / "sub/b.txt").mkdir()
        with pytest.raises(Refused):
            place.replace(b"mine")
    assert [path.name for path in (machine.workspace / "sub").iterdir()] == ["b.txt"]


def test_a_folder_is_made_with_those_above_it_and_not_twice(machine: Machine) -> None:
    gate = machine.gate()
    with gate.find("one/two", "mkdir") as place:
        place.make_folder()
    assert (machine.workspace / "one/two").is_dir()
    with gate.find("one/two", "mkdir") as place, pytest.raises(Refused, match="is there already"):
        place.make_folder()


def test_a_folder_is_not_deleted(machine: Machine) -> None:
    with machine.gate().find("sub", "delete") as place, pytest.raises(Refused, match="E_IS_FOLDER"):
        place.delete()
