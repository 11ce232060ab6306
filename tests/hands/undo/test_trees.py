"""Contents as folders that are kept once: they come back as they were, and only what differs is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.hands.undo.packs import Packs, PackWriter
from app.hands.undo.trees import read_apart, read_tree, walk_tree, write_tree
from app.hands.undo.values import Entry, File, Folder, Link, Unheld

CONTENTS: dict[str, Entry] = {
    "a": File(0o644, 3, b"1" * 32),
    "empty": Folder(0o755),
    "sub": Folder(0o2775),
    "sub/deep": Folder(0o700),
    "sub/deep/link": Link(b"../\xff"),
    "sub/deep/" + os.fsdecode(b"caf\xe9"): File(0o600, 0, b"2" * 32),
    "sub/pipe": Unheld("special"),
}


def write(contents: dict[str, Entry], folder: Path, name: str) -> tuple[bytes, Packs]:
    packs = Packs(folder)
    packs.refresh()
    with PackWriter(packs, f"{name}.pack") as writer:
        root = write_tree(contents, writer.put)
        writer.finish()
    return root, packs


@pytest.mark.parametrize("contents", [CONTENTS, {}])
def test_contents_come_back(contents: dict[str, Entry], tmp_path: Path) -> None:
    assert read_tree(*write(contents, tmp_path, "one")) == contents


def test_the_same_contents_have_the_same_root_in_whatever_order_they_come(tmp_path: Path) -> None:
    first, _ = write(CONTENTS, tmp_path, "one")
    second, _ = write(dict(reversed(CONTENTS.items())), tmp_path, "two")
    assert first == second
    assert not (tmp_path / "two.pack").exists()


def test_folders_that_are_the_same_are_not_compared(tmp_path: Path) -> None:
    before, _ = write(CONTENTS, tmp_path, "one")
    after, packs = write({**CONTENTS, "new": Folder(0o755), "new/a": Link(b"x")}, tmp_path, "two")
    left, right = read_apart(before, after, packs)
    assert left.keys() == {"a", "empty", "sub"}
    assert right.keys() == left.keys() | {"new", "new/a"}
    assert read_apart(before, before, packs) == ({}, {})


def test_a_walk_gives_each_thing_once_and_nothing_that_is_known(tmp_path: Path) -> None:
    root, packs = write(CONTENTS, tmp_path, "one")
    known: set[bytes] = set()
    found = list(walk_tree(root, packs, known))
    assert len(found) == len(set(found)) == 6
    assert set(found) == known
    assert list(walk_tree(root, packs, known)) == []
