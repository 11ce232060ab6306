"""Paths and kinds of changes."""

from __future__ import annotations

from app.hands.undo.values import Change, Folder, folders_above, parent_of


def test_the_folders_above_a_path_end_at_the_workspace() -> None:
    assert folders_above("a/b/c") == ("a/b", "a")
    assert folders_above("a") == ()
    assert (parent_of("a/b"), parent_of("a")) == ("a", "")


def test_a_change_says_what_kind_it_is() -> None:
    here, there = Folder(0o700), Folder(0o755)
    changes = (Change("a", None, here), Change("a", here, there), Change("a", here, None))
    assert [change.kind for change in changes] == ["added", "changed", "removed"]
