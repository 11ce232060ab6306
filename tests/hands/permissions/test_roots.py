"""Folders that are opened beside the workspace: some to work in, the files of the user only to be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.errors import Refused
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.permissions.places import Purpose
from tests.hands.places import Machine, write


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.fixture
def attached(machine: Machine) -> Path:
    """The files of one conversation, beside those of another."""
    data = machine.home / ".local/share/app"
    write(data / "attachments/conv_2/att_9/theirs.txt", "theirs")
    return write(data / "attachments/conv_1/att_1/a.txt", "mine").parents[1]


@pytest.fixture
def gate(machine: Machine, attached: Path) -> PathGate:
    closed = ClosedPlaces(machine.home, own=(attached.parents[1],), opened=(attached,))
    return PathGate(machine.workspace, closed=closed, read_only=(attached,))


@pytest.mark.parametrize("purpose", ["read", "stat", "search"])
def test_what_the_user_attached_is_read(gate: PathGate, attached: Path, purpose: Purpose) -> None:
    with gate.find(f"{attached}/att_1/a.txt", purpose) as place:
        assert place.is_file


@pytest.mark.parametrize("purpose", ["write", "edit", "delete", "mkdir"])
@pytest.mark.parametrize("name", ["att_1/a.txt", "att_1/new.txt", "new/new.txt"])
def test_nothing_is_changed_there(gate: PathGate, attached: Path, purpose: Purpose, name: str) -> None:
    with pytest.raises(Refused, match="only read") as refused:
        gate.find(f"{attached}/{name}", purpose)
    assert refused.value.code == "E_DENIED"


def test_a_link_of_the_workspace_does_not_make_it_writable(
    machine: Machine, gate: PathGate, attached: Path
) -> None:
    (machine.workspace / "inbox").symlink_to(attached)
    with gate.find("inbox/att_1/a.txt", "read") as place:
        assert place.is_file
    with pytest.raises(Refused, match="only read"):
        gate.find("inbox/att_1/new.txt", "write")


@pytest.mark.parametrize(
    "path", ["{}/../conv_2/att_9/theirs.txt", "{}/../../secrets.bin", "{}/../conv_2", "{}/.."]
)
@pytest.mark.parametrize("purpose", ["read", "list", "stat"])
def test_those_of_another_conversation_stay_closed(
    gate: PathGate, attached: Path, path: str, purpose: Purpose
) -> None:
    with pytest.raises(Refused):
        gate.find(path.format(attached), purpose)


def test_a_folder_may_be_made_after_the_gate(machine: Machine, attached: Path) -> None:
    later = attached.with_name("conv_3")
    closed = ClosedPlaces(machine.home, own=(attached.parents[1],), opened=(later,))
    gate = PathGate(machine.workspace, closed=closed, read_only=(later,))
    with pytest.raises(Refused, match="E_NOT_FOUND"):
        gate.find(str(later), "list")
    write(later / "att_1/late.txt", "late")
    with gate.find(f"{later}/att_1/late.txt", "read") as place:
        assert place.is_file
