"""Bringing back while somebody else is at work: nothing is written through a link or over what was not expected."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.hands.permissions.places import FOLDER
from app.hands.undo.applying import Applying
from app.hands.undo.memory import Known
from app.hands.undo.scan import Stamp
from app.hands.undo.values import Contents, Entry, File, Folder, Link
from tests.hands.places import write
from tests.hands.undo.workshop import picture_of


def file(text: bytes) -> File:
    return File(0o644, len(text), text)


def stock(folder: Path) -> dict[str, Known]:
    """What stands there; a content is its own digest."""
    known = {}
    for path in folder.rglob("*"):
        entry: Entry = Folder(0o755)
        if path.is_symlink():
            entry = Link(os.fsencode(path.readlink()))
        elif path.is_file():
            entry = file(path.read_bytes())
        known[path.relative_to(folder).as_posix()] = Known(entry, Stamp.of(path.lstat()))
    return known


def bring(folder: Path, wanted: Contents, meanwhile: Callable[[], object] = lambda: None) -> dict[str, str]:
    """Make ``folder`` hold what is wanted; ``meanwhile`` happens after it was looked at. What was left, and why."""
    known = stock(folder)

    def content_of(digest: bytes) -> bytes:
        meanwhile()
        return digest

    root = os.open(folder, FOLDER)
    try:
        applying = Applying(root, known, content_of)
        applying.apply({path: each.entry for path, each in known.items()}, wanted)
    finally:
        os.close(root)
    return {path: left.why for path, left in applying.left.items()}


def test_a_folder_that_became_a_link_meanwhile_is_not_written_through(tmp_path: Path) -> None:
    write(tmp_path / "out/a", "theirs")
    write(tmp_path / "ws/sub/a", "new")

    def swap() -> None:
        if not (tmp_path / "ws/sub").is_symlink():
            (tmp_path / "ws/sub").rename(tmp_path / "ws/aside")
            (tmp_path / "ws/sub").symlink_to("../out")

    wanted = {"sub": Folder(0o755), "sub/a": file(b"old"), "sub/b": file(b"old")}
    left = bring(tmp_path / "ws", wanted, swap)
    assert left.keys() == {"sub/a", "sub/b"}
    assert picture_of(tmp_path / "out") == {"a": ("100644", b"theirs")}


def test_a_file_that_became_a_link_meanwhile_is_not_written_through(tmp_path: Path) -> None:
    write(tmp_path / "out", "theirs")
    path = write(tmp_path / "ws/a", "new")

    def swap() -> None:
        path.unlink(missing_ok=True)
        path.symlink_to("../out")

    assert bring(tmp_path / "ws", {"a": file(b"old")}, swap).keys() == {"a"}
    assert path.is_symlink()
    assert (tmp_path / "out").read_text() == "theirs"


def test_what_the_user_changes_meanwhile_stays(tmp_path: Path) -> None:
    write(tmp_path / "changed", "new")
    write(tmp_path / "removed", "new")

    def edit() -> None:
        write(tmp_path / "changed", "by the user")
        write(tmp_path / "appeared", "by the user")
        (tmp_path / "removed").unlink(missing_ok=True)

    wanted = {name: file(b"old") for name in ("changed", "appeared", "removed")}
    left = bring(tmp_path, wanted, edit)
    assert left.keys() == {"changed", "appeared", "removed"}
    assert set(left.values()) == {"It has been changed just now. Look at it, then undo again."}
    assert picture_of(tmp_path).keys() == {"changed", "appeared"}
    assert (tmp_path / "changed").read_text() == (tmp_path / "appeared").read_text() == "by the user"


def test_what_is_to_go_and_changes_meanwhile_stays(tmp_path: Path) -> None:
    write(tmp_path / "new/a", "new")

    def edit() -> None:
        write(tmp_path / "new/mine", "by the user")

    left = bring(tmp_path, {"old": file(b"old")}, edit)
    assert left == {"new": "It stays for what lies in it."}
    assert picture_of(tmp_path).keys() == {"new", "new/mine", "old"}


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a", "new")
    write(tmp_path / "b", "new")
    before = picture_of(tmp_path)

    def fill() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"):
        bring(tmp_path, {"a": file(b"old")}, fill)
    assert picture_of(tmp_path) == before


def test_a_hard_link_is_broken_and_its_other_name_keeps_its_content(tmp_path: Path) -> None:
    write(tmp_path / "out", "shared")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/a").hardlink_to(tmp_path / "out")
    (tmp_path / "ws/b").hardlink_to(tmp_path / "out")
    assert bring(tmp_path / "ws", {"a": file(b"old"), "c": file(b"old")}) == {}
    assert (tmp_path / "out").read_text() == "shared"
    assert picture_of(tmp_path / "ws") == {"a": ("100644", b"old"), "c": ("100644", b"old")}


def test_a_folder_that_is_closed_to_its_owner_is_changed_and_closed_again(tmp_path: Path) -> None:
    write(tmp_path / "locked/a", "new")
    (tmp_path / "locked").chmod(0o555)
    assert bring(tmp_path, {"locked": Folder(0o555), "locked/a": file(b"old")}) == {}
    assert (tmp_path / "locked/a").read_bytes() == b"old"
    assert (tmp_path / "locked").stat().st_mode & 0o777 == 0o555
