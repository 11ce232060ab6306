"""delete_file: one file that was seen as it is, or a link itself; never a folder, never what a link points to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.hands.ledger import ReadLedger
from app.hands.limits import WHOLE_FILE_BYTES
from app.hands.toolbox import file_tools
from tests.hands.places import SECRET, Hands, Machine, fingerprint, picture, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
def hands(machine: Machine) -> Hands:
    return Hands(file_tools(machine.gate(), ReadLedger(), deleting=True))


def test_only_those_who_ask_for_it_get_it(machine: Machine) -> None:
    assert "delete_file" not in file_tools(machine.gate(), ReadLedger())


async def test_a_file_that_was_read_is_deleted_and_nothing_else(machine: Machine, hands: Hands) -> None:
    before = fingerprint(machine.workspace)
    await hands.call("read_file", path="sub/b.txt")
    assert (await hands.call("delete_file", path="sub/b.txt")).text == "Deleted sub/b.txt."
    assert set(before) - set(fingerprint(machine.workspace)) == {str(machine.workspace / "sub/b.txt")}


async def test_an_unread_one_is_not_and_an_empty_one_needs_no_reading(machine: Machine, hands: Hands) -> None:
    output = await hands.call("delete_file", path="a.txt")
    assert output.error == "E_NOT_READ"
    assert "read_file" in output.text
    assert (machine.workspace / "a.txt").exists()
    write(machine.workspace / "empty", b"")
    assert (await hands.call("delete_file", path="empty")).error is None


async def test_one_that_was_changed_since_is_not_and_is_shown(machine: Machine, hands: Hands) -> None:
    await hands.call("read_file", path="a.txt")
    write(machine.workspace / "a.txt", "by the user\n")
    for _ in range(2):
        output = await hands.call("delete_file", path="a.txt")
        assert output.error == "E_STALE"
        assert "by the user" in output.text
    await hands.call("read_file", path="a.txt")
    assert (await hands.call("delete_file", path="a.txt")).error is None


async def test_what_a_run_wrote_itself_it_may_delete_and_write_anew(machine: Machine, hands: Hands) -> None:
    await hands.call("write_file", path="new.txt", content="x")
    assert (await hands.call("delete_file", path="new.txt")).error is None
    assert (await hands.call("delete_file", path="new.txt")).error == "E_NOT_FOUND"
    assert (await hands.call("write_file", path="new.txt", content="y")).error is None


async def test_a_picture_counts_as_read(machine: Machine, hands: Hands) -> None:
    write(machine.workspace / "photo.png", picture(10, 10))
    await hands.call("read_file", path="photo.png")
    assert (await hands.call("delete_file", path="photo.png")).error is None


@pytest.mark.parametrize("target", ["a.txt", "sub", "nowhere", "../out/secret.txt"])
async def test_of_a_link_the_link_itself_is_deleted(machine: Machine, hands: Hands, target: str) -> None:
    (machine.workspace / "link").symlink_to(target)
    before, outside = fingerprint(machine.workspace), fingerprint(machine.outside)
    assert (await hands.call("delete_file", path="link")).text == "Deleted the link link."
    del before[str(machine.workspace / "link")]
    assert fingerprint(machine.workspace) == before
    assert fingerprint(machine.outside) == outside


async def test_through_a_link_to_a_folder_outside_nothing_is_deleted(machine: Machine, hands: Hands) -> None:
    (machine.workspace / "out").symlink_to(machine.outside)
    assert (await hands.call("delete_file", path="out/plain.txt")).error == "E_OUTSIDE"
    assert (machine.outside / "plain.txt").exists()


@pytest.mark.parametrize("path", ["sub", "sub/", ".", "sub/.."])
async def test_a_folder_is_refused_with_what_to_do(hands: Hands, path: str) -> None:
    output = await hands.call("delete_file", path=path)
    assert output.error == "E_IS_FOLDER"
    assert "Name a file" in output.text


async def test_a_name_that_ends_like_a_folder_is_none_of_a_file(machine: Machine, hands: Hands) -> None:
    await hands.call("read_file", path="a.txt")
    assert (await hands.call("delete_file", path="a.txt/")).error == "E_IS_FOLDER"
    assert (machine.workspace / "a.txt").exists()


async def test_a_pipe_is_left_alone(machine: Machine, hands: Hands) -> None:
    os.mkfifo(machine.workspace / "pipe")
    assert (await hands.call("delete_file", path="pipe")).error == "E_DENIED"
    assert (machine.workspace / "pipe").exists()


@pytest.mark.parametrize("name", [".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json", ".env"])
async def test_what_no_tool_writes_no_tool_deletes(machine: Machine, hands: Hands, name: str) -> None:
    path = write(machine.workspace / name, SECRET)
    assert (await hands.call("delete_file", path=name)).error == "E_DENIED"
    assert path.exists()


async def test_one_too_large_to_be_read_is_not_deleted_unseen(machine: Machine, hands: Hands) -> None:
    with (machine.workspace / "huge.log").open("wb") as file:
        file.truncate(WHOLE_FILE_BYTES + 1)
    output = await hands.call("delete_file", path="huge.log")
    assert output.error == "E_TOO_LARGE"
    assert (machine.workspace / "huge.log").exists()


async def test_the_one_who_read_a_deleted_file_does_not_bring_it_back_unknowing(
    machine: Machine, hands: Hands
) -> None:
    await hands.call("read_file", path="a.txt")
    (machine.workspace / "a.txt").unlink()
    first = await hands.call("write_file", path="a.txt", content="new\n")
    assert first.error == "E_STALE"
    assert "deleted since it was read" in first.text
    assert not (machine.workspace / "a.txt").exists()
    assert (await hands.call("write_file", path="a.txt", content="new\n")).error is None
