"""From the start of the process to the first page, and the memory of a server at rest."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from bench.figure import Figure
from e2e.server import Server

ROUNDS = 5


def measure() -> Iterator[Figure]:
    starts = [start_once() for _ in range(ROUNDS)]
    seconds = [taken for taken, _ in starts]
    yield Figure(
        "start to first page served", median(seconds), "s", 1.0, f"of {min(seconds):.2f}–{max(seconds):.2f}"
    )
    yield Figure("memory at rest", median(memory for _, memory in starts), "MB", 80)


def start_once() -> tuple[float, float]:
    """Seconds to the first page and megabytes after it, on a fresh data folder."""
    with TemporaryDirectory() as folder:
        server = Server(Path(folder))
        begun = time.perf_counter()
        try:
            login = server.start()
            httpx.get(login, follow_redirects=True).raise_for_status()
            return time.perf_counter() - begun, resident(server.pid)
        finally:
            server.stop()


def resident(pid: int) -> float:
    """Resident memory of a process in megabytes."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        return int(re.search(r"VmRSS:\s+(\d+)", status.read_text()).group(1)) * 1024 / 1e6  # type: ignore[union-attr]
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(shown.stdout) * 1024 / 1e6
