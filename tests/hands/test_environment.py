"""What a command is told of the app's environment, and what not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from app.hands.environment import command_environment, search_path

TEMPORARY = Path("/tmp/some")


def test_only_what_cannot_hold_a_key_is_taken_over() -> None:
    told = command_environment(
        {"PATH": "/usr/bin", "HOME": "/home/me", "LC_ALL": "it_IT.UTF-8", "LC_KEY": "x", "GH_TOKEN": "x"},
        TEMPORARY,
    )
    assert (told["HOME"], told["LC_ALL"], told["TMPDIR"]) == ("/home/me", "it_IT.UTF-8", "/tmp/some")
    assert "x" not in told.values()


def test_a_call_adds_variables_of_its_own_and_they_win() -> None:
    told = command_environment({}, TEMPORARY, {"TERM": "xterm", "PORT": "1"})
    assert (told["TERM"], told["PORT"]) == ("xterm", "1")
    assert command_environment({}, TEMPORARY)["TERM"] == "dumb"


def test_what_is_missing_has_a_value_that_works() -> None:
    told = command_environment({}, TEMPORARY)
    assert told["PATH"] == os.defpath
    assert Path(told["HOME"]).is_absolute()


def test_a_program_is_not_found_by_where_one_stands() -> None:
    assert search_path("/usr/bin::.:bin:/bin") == "/usr/bin:/bin"


def test_the_python_of_the_app_is_not_that_of_its_user() -> None:
    own = f"{sys.prefix}/bin"
    assert search_path(f"{own}:/usr/bin") == "/usr/bin"
    assert search_path(f"{own}-other:/usr/bin") == f"{own}-other:/usr/bin"
