"""A look at a workspace: every name, no link followed, and a limit to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.hands.permissions.closed_places import Standing
from app.hands.permissions.places import FOLDER
from app.hands.undo.limits import LIMITS, Limits
from app.hands.undo.scan import Look, look_at, opened
from app.hands.undo.values import Unheld, Why
from tests.hands.places import write


@contextmanager
def root_of(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def look(folder: Path, limits: Limits = LIMITS, standing: Standing = Standing(())) -> Look:  # noqa: B008
    with root_of(folder) as root:
        return look_at(root, standing, limits, lambda: None)


def whys(found: Look) -> dict[str, Why]:
    return {path: unheld.why for path, unheld in found.unheld.items()}


def test_every_name_is_seen_and_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "out/secret", "x")
    write(tmp_path / "ws/sub/.hidden", "x")
    (tmp_path / "ws/link").symlink_to("../out")
    (tmp_path / "ws/empty").mkdir()
    found = look(tmp_path / "ws")
    assert sorted(found.seen) == ["empty", "link", "sub", "sub/.hidden"]
    assert found.seen["link"].link == b"../out"


@pytest.mark.parametrize("name", [".git", ".GIT", ".hg", ".svn", ".jj", ".gi\u200ct"])
def test_a_history_is_not_entered_wherever_it_lies(name: str, tmp_path: Path) -> None:
    write(tmp_path / f"sub/{name}/config", "x")
    found = look(tmp_path)
    assert sorted(found.seen) == ["sub"]
    assert found.unheld == {f"sub/{name}": Unheld("history")}


@pytest.mark.parametrize("name", [".github", "git", ".gitignore", ".git.bak", "project.git"])
def test_what_only_looks_like_a_history_is(name: str, tmp_path: Path) -> None:
    write(tmp_path / name / "file", "x")
    assert f"{name}/file" in look(tmp_path).seen


def test_a_closed_place_is_not_entered(tmp_path: Path) -> None:
    write(tmp_path / ".ssh/id", "x")
    write(tmp_path / "open/.ssh", "x")
    found = look(tmp_path, standing=Standing(({".ssh": {}},)))
    assert whys(found) == {".ssh": "closed"}
    assert sorted(found.seen) == ["open", "open/.ssh"]


def test_what_is_too_much_is_left_out_with_all_below_it(tmp_path: Path) -> None:
    write(tmp_path / "src/a", "x")
    for number in range(20):
        write(tmp_path / f"cache/sub/{number}", "x" * 10)
    os.mkfifo(tmp_path / "cache/pipe")
    write(tmp_path / "big", "x" * 200)
    found = look(tmp_path, Limits(file_bytes=100, workspace_bytes=150))
    assert whys(found) == {"big": "large", "cache/sub": "budget", "cache/pipe": "special"}
    assert sorted(found.seen) == ["cache", "src", "src/a"]
    few = look(tmp_path, Limits(entries=6))
    assert whys(few) == {"cache/sub": "budget", "cache/pipe": "special"}
    assert found.unheld["cache/sub"].size == 200


def test_a_folder_that_is_left_out_shows_that_something_in_it_changed(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path / f"cache/{number}", "x" * 10)
    limits = Limits(workspace_bytes=0)
    before = look(tmp_path, limits).unheld
    assert look(tmp_path, limits).unheld == before
    write(tmp_path / "cache/0", "longer than it was")
    assert look(tmp_path, limits).unheld != before


def test_the_deepest_folders_are_not_entered_where_there_are_too_many_names(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path / f"a/b/{number}", "x")
    write(tmp_path / "z", "x")
    write(tmp_path / "a/b/c/d", "x")
    found = look(tmp_path, Limits(looked_at=10))
    assert whys(found) == {"a/b/c": "budget"}
    assert "z" in found.seen


def test_a_link_on_the_way_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "out/sub").mkdir(parents=True)
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/link").symlink_to("../out")
    with root_of(tmp_path / "ws") as root, pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        with opened(root, "link/sub"):
            pass
