"""The supervisor of a job as a program: it answers once the job runs, goes on alone, and writes down the end."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.hands.children import of_ours
from app.hands.offspring import announced


def start(place: Path, *argv: str, pass_fds: Sequence[int] = ()) -> dict[str, Any]:
    """What it answers."""
    place.mkdir()
    order = {"argv": argv, "folder": str(place), "environment": {"PATH": "/usr/bin:/bin"}, "grace": 0.1}
    told = json.dumps({**order, "job": str(place)}).encode()
    command = of_ours("app.hands.job_child")
    done = subprocess.run(command, input=told, capture_output=True, check=True, pass_fds=pass_fds)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def end_of(place: Path) -> dict[str, Any]:
    while not (place / "end.json").exists():
        os.sched_yield()
    end: dict[str, Any] = json.loads((place / "end.json").read_bytes())
    return end


def test_the_program_that_was_called_has_ended_when_the_job_runs(tmp_path: Path) -> None:
    place = tmp_path / "job"
    answer = start(place, *announced(("sh", "-c", "read line; exit 4")))
    assert json.loads((place / "process.json").read_bytes()) == answer
    assert os.getpgid(answer["pid"]) == answer["pid"]
    with (place / "input").open("w") as typed:
        typed.write("go\n")
    end = end_of(place)
    assert (end["how"], end["code"]) == ("exit", 4)
    assert (place / "output.0").read_bytes() == b"go\n"


def test_a_job_that_runs_keeps_nothing_open_that_came_from_the_app(tmp_path: Path) -> None:
    place = tmp_path / "job"
    ours, theirs = os.pipe()
    try:
        start(place, *announced(("sh", "-c", "read line")), pass_fds=(theirs,))
        os.close(theirs)
        assert os.read(ours, 1) == b""
    finally:
        os.close(ours)
    (place / "input").write_text("go\n")
    assert end_of(place)["code"] == 0


def test_one_that_ends_at_once_has_run(tmp_path: Path) -> None:
    place = tmp_path / "job"
    assert "pid" in start(place, *announced(("true",)))
    assert end_of(place)["code"] == 0


def test_one_that_never_began_says_what_was_said_instead(tmp_path: Path) -> None:
    answer = start(tmp_path / "job", "/bin/sh", "-c", "echo no room", *announced(("true",)))
    assert answer == {"why": "no room\n", "unconfined": True}


def test_one_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    assert "/no/such" in start(tmp_path / "job", "/no/such")["why"]
