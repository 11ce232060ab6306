"""One conversation that many pages follow, through the real server: what a reader costs, and how late frames come."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import httpx

from bench.figure import Figure
from bench.measure_page import ticker
from e2e.server import Server

FRAMES = 200
PACE = f"ticks={FRAMES} every_ms=50"
"""Twenty words a second, each of which is a frame of its own."""


def measure() -> Iterator[Figure]:
    with TemporaryDirectory() as folder, ticker() as url:
        server = Server(Path(folder))
        server.settings = {
            "OPENAI_API_KEY": "sk",
            "OPENAI_BASE_URL": url,
            "PLANCIA_MODEL": "openai/ticker",
        }
        server.start()
        try:
            alone, _ = follow(server, 1)
            hundred, _ = follow(server, 101)
            each = (hundred - alone) / FRAMES / 100
            yield Figure("an event to one of 100 more readers, CPU", each * 1e6, "µs", 15)
            _, ages = follow(server, 500)
            yield Figure("500 readers at 20 events/s, the oldest frame", max(ages) / 1000, "s", 1)
            yield Figure("the same, 99 %", quantiles(ages, n=100)[98], "ms", 100, f"of {len(ages):,} frames")
        finally:
            server.stop()


def follow(server: Server, number: int) -> tuple[float, list[int]]:
    """Seconds of the server's CPU for an answer that so many pages follow; the ages of their frames in milliseconds."""
    with httpx.Client(follow_redirects=True, trust_env=False) as browser:
        browser.get(server.login)
        address = server.new_conversation()
        page = browser.get(address)
        stream = re.search(r'hx-sse:connect="([^"]+)"', page.text)
        assert stream is not None
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        command = [sys.executable, "-m", "bench.readers", server.url + stream[1], cookie, str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as readers:
            assert readers.stdout is not None
            assert readers.stdout.readline() == b"open\n"
            before = processor_time(server.pid)
            server.post(f"{httpx.URL(address).path}/messages", text=PACE)
            ages: list[int] = json.loads(readers.stdout.readline())
            return processor_time(server.pid) - before, ages


def processor_time(pid: int) -> float:
    """Seconds that a process has worked, its threads included."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    shown = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=True)
    minutes, seconds = shown.stdout.strip().split(":")
    return int(minutes) * 60 + float(seconds)
