"""One data folder, one owner; and turns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.infra.errors import DataFolderError, FolderInUse
from app.infra.locks import FolderLock, Turn
from app.infra.paths import DataFolder

HOLDER = """
import sys, pathlib
from app.infra.locks import FolderLock
from app.infra.paths import DataFolder
FolderLock(DataFolder(pathlib.Path(sys.argv[1]))).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def start_holder(folder: DataFolder) -> subprocess.Popen[str]:
    """Another real process that owns the folder until its standard input closes."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data").create()


def test_a_second_process_is_refused_with_the_pid_and_what_to_do(folder: DataFolder) -> None:
    with start_holder(folder) as holder:
        folder.server.write_text(json.dumps({"url": "u", "token": "t", "pid": holder.pid}))
        with pytest.raises(
            FolderInUse, match=rf"process {holder.pid}\b.*plancia open.*--data-dir"
        ) as refusal:
            FolderLock(folder).acquire()
        assert refusal.value.pid == holder.pid
        holder.communicate()


@pytest.mark.parametrize("note", [None, "", "[]", '{"pid": 1}'])
def test_a_page_is_offered_only_where_the_owner_has_one(folder: DataFolder, note: str | None) -> None:
    """``plancia run`` has none; the note of a server that crashed is not its own."""
    if note is not None:
        folder.server.write_text(note)
    with start_holder(folder) as holder:
        with pytest.raises(
            FolderInUse, match=rf"process {holder.pid}, without a page\).*Wait for"
        ) as refusal:
            FolderLock(folder).acquire()
        assert "plancia open" not in str(refusal.value)
        holder.communicate()


def test_a_process_that_ended_leaves_the_folder_free(folder: DataFolder) -> None:
    start_holder(folder).communicate()
    with FolderLock(folder):
        assert folder.lock.read_text() == f"{os.getpid()}\n"


def test_a_process_that_was_killed_leaves_the_folder_free(folder: DataFolder) -> None:
    with start_holder(folder) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert folder.lock.read_text() == f"{holder.pid}\n"
    with FolderLock(folder):
        pass


def test_a_child_of_the_owner_does_not_keep_the_folder(folder: DataFolder) -> None:
    lock = FolderLock(folder)
    lock.acquire()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True) as child:
        lock.release()
        with FolderLock(folder):
            pass
        child.communicate("\n")


def test_a_released_folder_can_be_taken_again_and_releasing_twice_is_harmless(folder: DataFolder) -> None:
    lock = FolderLock(folder)
    with lock:
        with pytest.raises(FolderInUse):
            FolderLock(folder).acquire()
        lock.acquire()
    lock.release()
    with FolderLock(folder):
        pass


@pytest.mark.parametrize("content", ["", "not a number", "12 34", "\0\0\0"])
def test_an_unreadable_owner_is_called_another_process(folder: DataFolder, content: str) -> None:
    with FolderLock(folder):
        folder.lock.write_text(content)
        with pytest.raises(FolderInUse, match="another process") as refusal:
            FolderLock(folder).acquire()
        assert refusal.value.pid is None


def test_a_lock_file_that_vanished_while_held_is_made_anew(folder: DataFolder) -> None:
    with FolderLock(folder):
        folder.lock.unlink()
        with FolderLock(folder):
            assert folder.lock.read_text() == f"{os.getpid()}\n"


def test_a_folder_that_cannot_be_locked_is_explained(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(DataFolderError, match="there is a file in its place"):
        FolderLock(DataFolder(tmp_path / "data")).acquire()


def test_turns_are_taken_one_at_a_time_in_one_process_too(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def take(number: int) -> None:
        for _ in range(50):
            with Turn(tmp_path):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (max(most), len(most)) == (1, 200)


def test_who_does_not_want_to_wait_is_told_whether_it_is_theirs(tmp_path: Path) -> None:
    first, second = Turn(tmp_path), Turn(tmp_path)
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()


def test_a_turn_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from app.infra.locks import Turn; Turn(pathlib.Path(sys.argv[1])).acquire(); "
    )
    dying = [sys.executable, "-c", code + "import os; os._exit(9)", str(tmp_path)]
    assert subprocess.run(dying, cwd=Path(__file__).parents[2], check=False).returncode == 9
    with Turn(tmp_path):
        pass


def test_a_place_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Turn(tmp_path / "absent").acquire()
    assert list(tmp_path.iterdir()) == []
