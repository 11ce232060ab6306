"""The supervisor of a command reports for itself how it began and how it ended."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.hands.children import of_ours
from app.hands.offspring import announced


def supervise(folder: Path, *argv: str, keep_leash: bool = True) -> tuple[bytes, list[dict[str, Any]]]:
    """Output and reports of one command."""
    order = {"argv": argv, "folder": str(folder), "environment": {"PATH": "/usr/bin:/bin"}, "grace": 0.1}
    with subprocess.Popen(
        of_ours("app.hands.command_child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as supervisor:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        supervisor.stdin.write(json.dumps(order).encode() + b"\n")
        supervisor.stdin.flush()
        if not keep_leash:
            supervisor.stdin.close()
        output, said = supervisor.stdout.read(), supervisor.stderr.read()
    return output, [json.loads(line) for line in said.splitlines()]


def test_it_says_that_the_command_began(tmp_path: Path) -> None:
    output, (begin, end) = supervise(tmp_path, *announced(("sh", "-c", "echo out; exit 3")))
    assert output == b"out\n"
    assert begin["pid"] > 0
    assert (end["how"], end["begun"], end["code"], end["left"]) == ("exit", True, 3, 0)


def test_what_ends_before_the_command_is_not_its_end(tmp_path: Path) -> None:
    before = ("/bin/sh", "-c", "echo no room; exit 0")
    output, (_, end) = supervise(tmp_path, *before, *announced(("sh", "-c", "echo out")))
    assert output == b"no room\n"
    assert (end["how"], end["begun"]) == ("exit", False)


def test_a_leash_that_is_let_go_ends_it(tmp_path: Path) -> None:
    output, (_, end) = supervise(tmp_path, *announced(("sleep", "600")), keep_leash=False)
    assert output == b""
    assert end["how"] == "stopped"


@pytest.mark.parametrize("argv", [("/no/such/program",), ("/",)])
def test_what_cannot_be_started_says_why(tmp_path: Path, argv: tuple[str, ...]) -> None:
    _, (*_, end) = supervise(tmp_path, *argv)
    assert end["how"] == "failed"
    assert argv[0] in end["why"]


def test_a_folder_that_is_not_there_says_why(tmp_path: Path) -> None:
    _, (end,) = supervise(tmp_path / "none", "/bin/true")
    assert "No such file or directory" in end["why"]
