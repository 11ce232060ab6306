"""ripgrep is a scout: where it fails or lies, nothing is given away, and mostly nothing is missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.hands.ripgrep import find_ripgrep
from app.hands.search import searching_tools
from tests.hands.places import SECRET, Hands, Machine, write


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made_in(tmp_path)


def hands_with(machine: Machine, script: str) -> Hands:
    """Hands whose ripgrep is a script."""
    fake = write(machine.workspace.parent / "rg", f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    return Hands({tool.name: tool for tool in searching_tools(machine.gate(), fake)})


@pytest.mark.anyio
@pytest.mark.parametrize("script", ["exit 2", "kill -9 $$", "echo said before it broke; exit 101"])
async def test_one_that_breaks_off_is_done_without(machine: Machine, script: str) -> None:
    output = await hands_with(machine, script).call("grep_files", pattern="ALPHA")
    assert output.text == "[1 matching line in 1 file]\na.txt\n1: alpha"


@pytest.mark.anyio
async def test_one_that_cannot_be_started_is_done_without(machine: Machine) -> None:
    hands = Hands({tool.name: tool for tool in searching_tools(machine.gate(), machine.home / "none")})
    assert "1: alpha" in (await hands.call("grep_files", pattern="alpha")).text


@pytest.mark.anyio
async def test_one_that_names_what_is_outside_gets_nothing_shown(machine: Machine) -> None:
    (machine.workspace / "to_out").symlink_to(machine.outside)
    names = (
        "../out/secret.txt",
        "to_out/secret.txt",
        f"{machine.outside}/secret.txt",
        "./../ws/../out/secret.txt",
    )
    script = r"printf '%s\0' " + " ".join(names)
    assert (await hands_with(machine, script).call("grep_files", pattern=SECRET)).text == "[Nothing found.]"


def test_a_ripgrep_in_the_workspace_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bin/rg", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_ripgrep(tmp_path) is None
    assert find_ripgrep(tmp_path / "other") == tmp_path / "bin/rg"
