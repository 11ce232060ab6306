"""The browser of this machine: opened, missing, and never waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OPEN = """
import asyncio
from app.commands.browser import open_browser

async def try_it():
    try:
        async with asyncio.timeout(0.5):
            print(await open_browser("http://127.0.0.1:1/"))
    except TimeoutError:
        print("not waited for")

asyncio.run(try_it())
"""


def said(folder: Path, browser: str) -> str:
    """By a process whose only browser is this script."""
    script = folder / "browser"
    script.write_text(f"#!/bin/sh\n{browser}\n")
    script.chmod(0o755)
    environment = {"PATH": str(folder), "HOME": str(folder), "BROWSER": f"{script} %s"}
    command = [sys.executable, "-c", OPEN]
    root = Path(__file__).parents[2]
    with (folder / "said").open("w+b") as out:  # a pipe would stay open as long as the browser
        subprocess.run(command, cwd=root, env=environment, stdout=out, stderr=out, timeout=15, check=False)
    return (folder / "said").read_text().strip()


@pytest.mark.parametrize(
    ("browser", "expected"),
    [
        ("exit 0", "True"),
        ("exit 1", "False"),
        (f"exec {os.path.realpath('/bin/sleep')} 5", "not waited for"),
    ],
)
def test_a_browser_is_opened_and_not_waited_for(tmp_path: Path, browser: str, expected: str) -> None:
    assert said(tmp_path, browser) == expected
