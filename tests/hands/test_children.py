"""A program started by a tool knows nothing of the app's environment and never outlives the call."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest

from app.hands.children import child, output_of
from tests.hands.places import gone

pytestmark = pytest.mark.anyio


async def test_it_gets_what_it_is_told_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    script = "import os, sys; print(sys.stdin.read(), os.getcwd(), sorted(set(os.environ) - {'LC_CTYPE'}))"
    async with child((sys.executable, "-I", "-c", script), folder=tmp_path, told=b"hello") as process:
        output = b"".join([piece async for piece in output_of(process)])
    assert output.decode().strip() == f"hello {tmp_path.resolve()} ['LC_ALL', 'PATH']"


async def test_what_it_started_is_ended_with_it(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time; "
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid, flush=True); "
        "time.sleep(600)"
    )
    async with child((sys.executable, "-I", "-c", script), folder=tmp_path) as process:
        async for piece in output_of(process):
            grandchild = int(piece)
            break
    assert process.returncode is not None
    await gone(grandchild)


async def test_a_cancelled_caller_ends_it(tmp_path: Path) -> None:
    with anyio.CancelScope() as scope:
        async with child(
            (sys.executable, "-I", "-c", "import time; time.sleep(600)"), folder=tmp_path
        ) as process:
            scope.cancel()
            await process.wait()
    assert process.returncode is not None


async def test_one_that_ends_before_it_listens_is_no_error(tmp_path: Path) -> None:
    async with child(("/bin/sh", "-c", "exit 3"), folder=tmp_path, told=bytes(10_000_000)) as process:
        assert await process.wait() == 3


async def test_one_that_cannot_be_started_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with child((os.fspath(tmp_path / "none"),), folder=tmp_path):
            pass
