"""A process is known by its number and the moment it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

from app.infra.processes import Process


def test_this_process_runs_and_is_the_same_each_time() -> None:
    own = Process.find(os.getpid())
    assert own is not None
    assert own.is_running
    assert Process.find(os.getpid()) == own


def test_another_of_the_same_number_is_not_it_and_gets_no_signal() -> None:
    with subprocess.Popen(("sleep", "600")) as child:
        found = Process.find(child.pid)
        assert found is not None
        other = replace(found, started="at another time")
        assert not other.is_running
        other.send(signal.SIGKILL)
        assert found.is_running
        found.send(signal.SIGTERM)
        assert child.wait() == -signal.SIGTERM
        assert not found.is_running
        found.send(signal.SIGTERM)


def test_one_that_its_parent_has_yet_to_collect_does_not_run() -> None:
    with subprocess.Popen(("sleep", "600")) as child:
        found = Process.find(child.pid)
        assert found is not None
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not found.is_running
        assert Process.find(child.pid) is None


def test_a_number_that_nobody_has_is_no_process() -> None:
    assert Process.find(2**22 + 1) is None


HIDDEN = """
import ctypes, sys
from app.infra.processes import hide_from_others
hide_from_others()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) if sys.platform == "linux" else 0)
"""


def test_what_is_hidden_cannot_be_looked_into() -> None:
    done = subprocess.run((sys.executable, "-c", HIDDEN), capture_output=True, check=True)
    assert done.stdout.split() == [b"0"]
