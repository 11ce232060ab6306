"""The data folder: where it is, how it is made, what is said when it cannot be."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.infra.errors import DataFolderError
from app.infra.paths import DataFolder, asset_root, in_words

NOBODY = 65534


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """Permission bits do not bind the superuser, so give that up for a moment where we have it."""
    before = os.geteuid()
    if before != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_option_wins_over_the_environment(tmp_path: Path) -> None:
    environment = {"PLANCIA_DATA_DIR": str(tmp_path / "from-environment")}
    assert DataFolder.at(tmp_path / "chosen", environment).root == tmp_path / "chosen"
    assert DataFolder.at(None, environment).root == tmp_path / "from-environment"


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert DataFolder.at(None, {"PLANCIA_DATA_DIR": ""}) == DataFolder.at(None, {})


def test_without_a_choice_the_platform_decides() -> None:
    assert DataFolder.at(None, {}).root.name.lower() == "plancia"


def test_a_relative_folder_and_a_tilde_become_absolute() -> None:
    assert DataFolder.at(Path("data"), {}).root == Path.cwd() / "data"
    assert DataFolder.at(Path("~/data"), {}).root == Path.home() / "data"


def test_all_paths_lie_inside_the_root(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    names = [name for name, value in vars(DataFolder).items() if isinstance(value, property)]
    assert len(names) == 18
    assert {getattr(folder, name).parent for name in names} == {tmp_path}
    assert folder.database.name == "plancia.sqlite3"
    assert folder.secrets.name == "secrets.json"


def test_a_new_folder_and_its_parents_are_made_and_private(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "deep" / "down").create()
    assert mode(folder.root) == 0o700
    assert {mode(child) for child in folder.root.iterdir()} == {0o700}
    assert {child.name for child in folder.root.iterdir()} >= {"sessions", "results", "backups", "logs"}


def test_making_it_twice_changes_nothing(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data").create()
    (folder.sessions / "one.jsonl").write_text("kept")
    before = sorted(folder.root.iterdir())
    folder.create()
    assert sorted(folder.root.iterdir()) == before
    assert (folder.sessions / "one.jsonl").read_text() == "kept"


def test_an_own_folder_that_became_public_is_made_private_again(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data").create()
    folder.database.touch()
    folder.root.chmod(0o755)
    assert mode(folder.create().root) == 0o700


def test_a_folder_with_other_things_in_it_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    tmp_path.chmod(0o755)
    DataFolder(tmp_path).create()
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "sessions") == 0o700
    (tmp_path / "plancia.sqlite3").touch()
    DataFolder(tmp_path).create()
    assert mode(tmp_path) == 0o755


@pytest.mark.parametrize("place", ["data", "data/deeper", "data/sessions/../deeper"])
def test_a_file_in_its_place_is_named_as_such(tmp_path: Path, place: str) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(DataFolderError, match=r"there is a file in its place.*--data-dir"):
        DataFolder(tmp_path / place).create()
    assert (tmp_path / "data").read_text() == "a file"


def test_a_folder_without_the_right_to_write_is_named_as_such(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    with as_an_ordinary_user(), pytest.raises(DataFolderError, match="is not writable for this user"):
        DataFolder(closed).create()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EACCES, "is not writable"),
        (errno.EPERM, "is not writable"),
        (errno.EROFS, "read-only disk"),
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "is full"),
        (errno.ENOTDIR, "a file in its place"),
        (errno.ELOOP, "cannot be used"),
    ],
)
def test_each_cause_has_its_own_words_and_a_way_out(code: int, words: str) -> None:
    sentence = in_words(OSError(code, os.strerror(code), "/data/sessions"), Path("/data"))
    assert words in sentence
    assert "/data" in sentence
    assert "PLANCIA_DATA_DIR" in sentence


@pytest.mark.parametrize("name", ["templates", "static"])
def test_assets_are_found_in_a_checkout(name: str) -> None:
    assert asset_root(name).is_dir()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["~nobody-of-this-name/data", "d" * 5000])
def test_a_name_that_no_folder_can_have_is_refused_in_words(name: str) -> None:
    with pytest.raises(DataFolderError, match="Choose another folder"):
        DataFolder.at(None, {"PLANCIA_DATA_DIR": name}).create()
