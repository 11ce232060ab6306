"""Every tool's paths go through one gate: what may be touched, and what is refused with nothing touched."""

from __future__ import annotations

import io
import os
import socket
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
    **{"read": "read", "list": "list", "grep": "search", "write": "write", "edit": "edit"},
    **{"mkdir": "mkdir", "delete": "delete"},
}


def act(gate: PathGate, path: str, op: str) -> bytes:
    """Do what the row says through the gate's own seam; what a reader would see of it."""
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


@pytest.mark.parametrize("row", [pytest.param(row, id=f"row{n}") for n, row in enumerate(ROWS, 2)])
def test_the_gate_decides_as_the_table_says(row: dict[str, str], tmp_path: Path) -> None:
    machine = Machine.made_in(tmp_path)
    at_home = row["setup"] == "ROOT=@HOME@"
    if not at_home:
        machine.run(row["setup"])
    before = fingerprint(machine.outside), fingerprint(machine.home)
    gate = machine.gate(machine.home if at_home else None)
    path = machine.fill(row["path"])
    if row["verdict"] == "deny":
        with pytest.raises(Refused) as refused:
            act(gate, path, row["op"])
        assert SECRET not in refused.value.sentence
    else:
        assert SECRET.encode() not in act(gate, path, row["op"])
    assert (fingerprint(machine.outside), fingerprint(machine.home)) == before
