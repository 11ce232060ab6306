"""A folder that was typed: used as it is, or refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.workspace.folders import FolderUnusable, chosen_folder


def test_a_folder_that_is_there_is_taken(tmp_path: Path) -> None:
    spaced = tmp_path / "two words"
    spaced.mkdir()
    assert chosen_folder(str(spaced)) == spaced
    assert chosen_folder(f"{spaced}/") == spaced
    assert chosen_folder("~") == Path.home()


def test_a_link_to_a_folder_is_taken_and_a_torn_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "torn").symlink_to(tmp_path / "gone")
    assert chosen_folder(str(tmp_path / "link")) == tmp_path / "link"
    with pytest.raises(FolderUnusable, match="is not there"):
        chosen_folder(str(tmp_path / "torn"))


@pytest.mark.parametrize(
    "text", ["relative", "./here", "../up", "~nobody-of-this-name", "/" + "x" * 9000, "C:\\x", ""]
)
def test_what_is_no_whole_path_of_this_computer_is_refused(text: str) -> None:
    with pytest.raises(FolderUnusable):
        chosen_folder(text)


def test_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusable, match="Make it first"):
        chosen_folder(str(tmp_path / "new" / "deeper"))
    assert list(tmp_path.iterdir()) == []
