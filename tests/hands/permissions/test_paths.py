"""Every tool's paths go through one gate: what may be touched, and what is refused with nothing touched."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hands.errors import Refused
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.permissions.walk import Purpose
from tests.case_tables import load_tsv
from tests.hands.places import SECRET, Machine, fingerprint, write

ROWS = load_tsv("path_cases.tsv")
PURPOSES: dict[str, Purpose] = {
    "read": "read",
    "list": "list",
    "grep": "search",
    "write": "write",
    "edit": "edit",
    "mkdir": "mkdir",
    "delete": "delete",
}


def act(gate: PathGate, path: str, op: str) -> bytes:
    """Do what a row says through the gate's own seam; what a reader would see of it."""
    with gate.find(path, PURPOSES[op]) as place:
        if op in ("read", "edit"):
            with place.open_file() as file:
                seen = file.read(100_000)
            if op == "edit":
                place.replace(b"edited")
            return seen
        if op in ("list", "grep"):
            os.close(place.open_folder())
        elif op == "write":
            place.replace(b"written")
        elif op == "mkdir":
            place.make_folder()
        else:
            place.delete()
    return b""


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


@pytest.mark.parametrize("row", [pytest.param(row, id=f"row{n}") for n, row in enumerate(ROWS, 2)])
def test_the_gate_decides_as_the_table_says(row: dict[str, str], machine: Machine) -> None:
    at_home = row["setup"] == "ROOT=@HOME@"
    if not at_home:
        machine.run(row["setup"])
    before = fingerprint(machine.outside), fingerprint(machine.home)
    gate = machine.gate(machine.home if at_home else None)
    path, opened = machine.fill(row["path"]), open_files()
    if row["verdict"] == "deny":
        with pytest.raises(Refused) as refused:
            act(gate, path, row["op"])
        assert SECRET not in refused.value.sentence
    else:
        assert SECRET.encode() not in act(gate, path, row["op"])
    assert open_files() == opened
    assert (fingerprint(machine.outside), fingerprint(machine.home)) == before


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../out/secret.txt", "E_OUTSIDE"),
        ("nope.txt", "E_NOT_FOUND"),
        ("a.txt/more", "E_NOT_FOUND"),
        ("sub", "E_IS_FOLDER"),
        ("", "E_BAD_INPUT"),
        ("half \ud800 a sign", "E_BAD_INPUT"),
        ("x" * 256, "E_BAD_INPUT"),
        ("https://example.com/a.txt", "E_BAD_INPUT"),
    ],
)
def test_a_refusal_says_of_what_kind_it_is_and_what_to_do(machine: Machine, path: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        act(machine.gate(), path, "read")
    assert refused.value.code == code
    assert refused.value.sentence.endswith(".")


def test_a_missing_file_is_named_with_those_near_it(machine: Machine) -> None:
    with pytest.raises(Refused, match=r"sub/B\.TXT does not exist\. Near it: sub/b\.txt\."):
        act(machine.gate(), "sub/B.TXT", "read")


def test_closed_names_are_not_offered_as_near(machine: Machine) -> None:
    with pytest.raises(Refused) as refused:
        act(machine.gate(machine.home), ".sshh", "read")
    assert ".ssh." not in refused.value.sentence


def test_a_path_that_leaves_and_comes_back_is_inside(machine: Machine) -> None:
    assert act(machine.gate(), f"../{machine.workspace.name}/a.txt", "read") == b"alpha\n"


def test_a_workspace_reached_by_a_link_is_known_by_both_names(machine: Machine, tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.symlink_to(machine.workspace)
    gate = machine.gate(named)
    assert (
        act(gate, f"{named}/a.txt", "read") == act(gate, f"{machine.workspace}/a.txt", "read") == b"alpha\n"
    )


def test_a_granted_folder_is_open_and_a_granted_closed_one_is_not(machine: Machine) -> None:
    closed = ClosedPlaces(machine.home)
    gate = PathGate(machine.workspace, (machine.home / "projects", machine.home / ".ssh"), closed=closed)
    assert act(gate, "~/projects/notes.md", "read") == b"notes\n"
    with pytest.raises(Refused, match="E_DENIED"):
        act(gate, "~/.ssh/id_rsa", "read")


def test_attachments_are_open_inside_the_data_folder_that_is_not(machine: Machine) -> None:
    data = machine.home / ".local/share/app"
    write(data / "attachments/c1/photo.txt", "photo")
    attachments = data / "attachments/c1"
    closed = ClosedPlaces(machine.home, own=(data,), opened=(attachments,))
    gate = PathGate(machine.workspace, (attachments,), closed=closed)
    assert act(gate, f"{attachments}/photo.txt", "read") == b"photo"
    for path in (f"{attachments}/../../secrets.bin", f"{data}/secrets.bin"):
        with pytest.raises(Refused):
            act(gate, path, "read")


@pytest.mark.parametrize("op", ["write", "edit", "delete", "read"])
def test_a_link_inside_the_workspace_is_read_through_and_never_written_through(
    machine: Machine, op: str
) -> None:
    (machine.workspace / "link").symlink_to("a.txt")
    if op in ("write", "edit"):
        with pytest.raises(Refused, match="nothing is written through a link"):
            act(machine.gate(), "link", op)
    else:
        act(machine.gate(), "link", op)
    assert (machine.workspace / "a.txt").read_text() == "alpha\n"
    assert (machine.workspace / "link").is_symlink() == (op != "delete")


def test_a_link_named_like_a_secret_is_one(machine: Machine) -> None:
    (machine.workspace / ".env").symlink_to("a.txt")
    (machine.workspace / "plain").symlink_to("key.pem")
    write(machine.workspace / "key.pem", SECRET)
    for path in (".env", "plain", "key.pem"):
        with pytest.raises(Refused, match="may hold secrets"):
            act(machine.gate(), path, "read")


def test_dotfiles_behind_a_link_are_as_closed_as_the_link(machine: Machine) -> None:
    write(machine.home / "dotfiles/gnupg/key", SECRET)
    (machine.home / ".gnupg").symlink_to("dotfiles/gnupg")
    gate = machine.gate(machine.home)
    for path in (".gnupg/key", "dotfiles/gnupg/key"):
        with pytest.raises(Refused, match="closed to tools"):
            act(gate, path, "read")


def test_a_folder_swapped_for_a_link_again_and_again_never_leads_out(machine: Machine) -> None:
    """The classic race: a checked folder becomes a link to the outside before it is used."""
    inside, away = machine.workspace / "swap", machine.workspace / "away"
    write(inside / "secret.txt", "inside")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            inside.rename(away)
            inside.symlink_to(machine.outside)
            inside.unlink()
            away.rename(inside)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        gate, seen, before = machine.gate(), set(), fingerprint(machine.outside)
        for _ in range(1000):
            try:
                seen.add(act(gate, "swap/secret.txt", "edit"))
            except Refused as refused:
                seen.add(refused.code.encode())
    finally:
        done.set()
        swapper.join()
    assert SECRET.encode() not in seen
    assert fingerprint(machine.outside) == before


PIECES = st.sampled_from(
    [
        *(
            "..",
            ".",
            "",
            "a.txt",
            "sub",
            "b.txt",
            "out",
            "ws",
            "home",
            "secret.txt",
            "to_out",
            "to_up",
            "to_sub",
            "loop",
        ),
        *(
            "~",
            "etc",
            "passwd",
            "proc",
            "self",
            "cwd",
            "root",
            ".git",
            "new",
            ".ssh",
            "id_rsa",
            "x\u200b",
            "...",
            "\\",
        ),
    ]
)
PATHS = st.tuples(
    st.sampled_from(["", "/", "//", "~/", "@WS@/", "@OUT@/", "@HOME@/", "./"]), st.lists(PIECES, max_size=7)
)


@given(paths=st.lists(st.tuples(PATHS, st.sampled_from(list(PURPOSES))), min_size=1, max_size=12))
def test_no_path_at_all_leads_out(
    paths: list[tuple[tuple[str, list[str]], str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    machine = Machine.made_in(tmp_path_factory.mktemp("machine"))
    (machine.workspace / "to_out").symlink_to(machine.outside)
    (machine.workspace / "to_up").symlink_to("..")
    (machine.workspace / "to_sub").symlink_to("sub/../sub")
    (machine.workspace / "loop").symlink_to("loop")
    gate = machine.gate()
    around = (
        fingerprint(machine.outside),
        fingerprint(machine.home),
        sorted(machine.workspace.parent.iterdir()),
    )
    for (start, pieces), op in paths:
        try:
            seen = act(gate, machine.fill(start) + "/".join(pieces), op)
        except Refused:
            continue
        assert SECRET.encode() not in seen
    after = (
        fingerprint(machine.outside),
        fingerprint(machine.home),
        sorted(machine.workspace.parent.iterdir()),
    )
    assert after == around
