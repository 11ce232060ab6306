"""What a search may see of a folder, and in which order."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from app.hands.permissions.paths import PathGate
from app.hands.tree import Tree
from tests.hands.places import Machine, write


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


def paths(gate: PathGate, root: str = ".") -> list[str]:
    with gate.find(root, "search") as place, Tree(place) as tree:
        return [file.path for file in tree.files()]


def labels(gate: PathGate, root: str) -> list[str]:
    with gate.find(root, "search") as place, Tree(place) as tree:
        return [tree.label(file.path) for file in tree.files()]


def test_files_come_in_the_order_of_their_names_folder_by_folder(machine: Machine) -> None:
    for name in ("b/x", "b.txt", "a/z", "a/b/c", "B", "b/a"):
        write(machine.workspace / "tree" / name, "x")
    assert paths(machine.gate(), "tree") == ["B", "a/b/c", "a/z", "b/a", "b/x", "b.txt"]
    assert labels(machine.gate(), "tree/b") == ["tree/b/a", "tree/b/x"]


def test_one_file_is_a_tree_of_its_own(machine: Machine) -> None:
    assert labels(machine.gate(), "sub/b.txt") == ["sub/b.txt"]


def test_links_pipes_noise_and_closed_places_are_left_out(machine: Machine) -> None:
    for name in (
        ".git/x",
        "node_modules/x",
        "deep/.venv/x",
        ".env",
        "deep/id_rsa",
        "deep/kept",
        "git/x",
        "venv.txt",
    ):
        write(machine.workspace / name, "x")
    (machine.workspace / "link").symlink_to(machine.outside)
    (machine.workspace / "alink").symlink_to("a.txt")
    os.mkfifo(machine.workspace / "pipe")
    assert paths(machine.gate()) == ["a.txt", "deep/kept", "git/x", "sub/b.txt", "venv.txt"]
    assert paths(machine.gate(machine.home)) == [".config/editor/init.lua", "projects/notes.md"]


def test_named_files_are_those_that_a_walk_would_give(machine: Machine) -> None:
    write(machine.workspace / "node_modules/x", "x")
    write(machine.workspace / ".env", "x")
    (machine.workspace / "link").symlink_to(machine.outside)
    gate = machine.gate()
    named = [
        "sub/b.txt",
        "a.txt",
        "link/secret.txt",
        "node_modules/x",
        ".env",
        "gone",
        "../out/secret.txt",
        "sub/../a.txt",
        "a.txt/x",
    ]
    with gate.find(".", "search") as place, Tree(place) as tree:
        opened = {}
        for file in tree.named(named):
            with file.open() or nullcontext() as handle:
                opened[file.path] = handle and handle.read()
    assert opened == {"a.txt": b"alpha\n", "gone": None, "sub/b.txt": b"beta\n"}


def test_a_tree_leaves_no_folder_open(machine: Machine) -> None:
    write(machine.workspace / "deep/deeper/deepest/x", "x")
    before = sorted(Path("/dev/fd").iterdir())
    with machine.gate().find(".", "search") as place, Tree(place) as tree:
        files = tree.files()
        next(file for file in files if file.path.startswith("deep"))
        files.close()
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_a_tree_deeper_than_can_be_held_open_is_searched_as_far_as_that(machine: Machine) -> None:
    deep = machine.workspace / "tree"
    for _ in range(110):
        deep = deep / "d"
    write(deep / "x", "x")
    write(machine.workspace / "tree/d/x", "x")
    assert paths(machine.gate(), "tree") == ["d/x"]
