"""The note of a running server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.commands.running import Running, find_note, find_owner, forget, remember
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder

HERE = Running("http://127.0.0.1:8484", "a/b&c", os.getpid())


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data").create()


def test_a_note_is_found_until_it_is_forgotten(folder: DataFolder) -> None:
    assert find_note(folder) is None
    remember(folder, HERE)
    assert find_note(folder) == HERE
    forget(folder)
    forget(folder)
    assert find_note(folder) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": "u"}', '{"url": "u", "token": "t", "pid": "x"}'])
def test_a_note_that_cannot_be_read_is_none(folder: DataFolder, text: str) -> None:
    folder.server.write_text(text)
    assert find_note(folder) is None


def test_the_login_escapes_what_an_address_cannot_hold() -> None:
    assert HERE.login == "http://127.0.0.1:8484/?token=a%2Fb%26c"


def test_a_process_that_is_gone_is_not_alive() -> None:
    assert HERE.is_alive
    assert not Running("u", "t", 2**30).is_alive


def test_the_owner_is_known_by_the_lock(folder: DataFolder) -> None:
    assert find_owner(folder) is None
    assert not folder.lock.exists(), "Asking leaves nothing behind."
    with FolderLock(folder):
        owner = find_owner(folder)
        assert owner is not None
        assert owner.pid == os.getpid()
    assert find_owner(folder) is None
