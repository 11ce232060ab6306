"""Processes of this machine by number and moment of start, so that a number given out anew is never mistaken.

Knows nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_HAS_PROC = Path("/proc/self/stat").exists()

_SET_DUMPABLE = 4
"""``PR_SET_DUMPABLE`` of prctl(2)."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that was seen once."""

    pid: int
    started: str
    """When, as the system writes it; of no other process of this number the same."""

    @classmethod
    def find(cls, pid: int) -> Process | None:
        started = _started(pid)
        return cls(pid, started) if started else None

    @property
    def is_running(self) -> bool:
        return _started(self.pid) == self.started

    def send(self, number: signal.Signals) -> None:
        """Send it a signal; none is sent where it has ended, whoever has its number now."""
        handle = _handle(self.pid)
        try:
            if self.is_running:
                if handle is None:
                    os.kill(self.pid, number)
                else:
                    signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass  # it has ended at this very moment
        finally:
            if handle is not None:
                os.close(handle)


def hide_from_others() -> None:
    """Close memory and environment of this process to all others of its user but root, where the system can (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _handle(pid: int) -> int | None:
    """A descriptor that stands for the process as long as it is open; None where the system has none."""
    try:
        return os.pidfd_open(pid) if sys.platform == "linux" else None
    except OSError:
        return None


def _started(pid: int) -> str | None:
    """None for a process that has ended, one that its parent has yet to collect among them."""
    if _HAS_PROC:
        return _started_in_proc(pid)
    told = ("ps", "-o", "stat=,lstart=", "-p", str(pid))
    done = subprocess.run(told, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    state, _, started = done.stdout.decode(errors="replace").strip().partition(" ")
    return None if not started or state.startswith("Z") else " ".join(started.split())


def _started_in_proc(pid: int) -> str | None:
    try:
        facts = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if facts[0] in "ZX" else f"{boot} {facts[19]}"
