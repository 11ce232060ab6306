"""A seat at the terminal: the command line run in this process, on a data folder and an environment of its own."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.cli import main
from app.commands.terminal import Terminal
from app.infra.paths import DataFolder
from tests.fakes.llm_client import ROOT, FakeLLM


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of ``run --json``."""
        return [json.loads(line) for line in self.out.splitlines()]


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


class Seat:
    """Type words, read what comes. ``environment`` is all that a command knows of the world."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.folder = DataFolder(folder / "data")
        self.environment = {
            "PLANCIA_DATA_DIR": str(self.folder.root),
            "PLANCIA_WORKSPACE": str(self.workspace),
        }

    def __call__(self, *words: str, typed: str = "", hidden: str = "", watched: bool = False) -> Ran:
        """``typed`` is what stdin holds; ``watched``: all three streams are a terminal."""
        kind = Screen if watched else io.StringIO
        out, err = kind(), kind()
        terminal = Terminal(kind(typed), out, err, self.environment, lambda _: hidden)
        code = main(words, terminal)
        return Ran(code, out.getvalue(), err.getvalue())

    def with_model(self, llm: FakeLLM, *more: str) -> Seat:
        """Configure the fake server as the only model source."""
        words = ("--kind", "openai", "--base-url", llm.base_url, "--model", "fake-model")
        ran = self("provider", "add", "fake", *words, *more)
        assert ran.code == 0, ran.err
        return self

    def at_terminal(self, *words: str, until: bytes, keys: bytes) -> tuple[int, bytes]:
        """A process on a terminal of its own, where ``keys`` are typed once it shows ``until``.

        Its exit code, and all that it showed.
        """
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            cwd=ROOT,
            env=self._of_a_process(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: os.close(
                os.open(os.ttyname(0), os.O_RDWR)
            ),  # makes it the controlling terminal
        )
        os.close(theirs)
        seen = b""
        while until not in seen:
            seen += os.read(ours, 1024)
        os.write(ours, keys)
        with suppress(OSError):  # how the other end of a terminal says that it is closed
            while piece := os.read(ours, 1024):
                seen += piece
        os.close(ours)
        return process.wait(timeout=30), seen

    def _of_a_process(self) -> dict[str, str]:
        """The keyring of who runs the tests is not ours, in another process either."""
        kept = {name: os.environ[name] for name in ("PATH", "PYTHON_KEYRING_BACKEND")}
        return {**kept, "HOME": str(self.home), **self.environment}

    def start(self, *words: str | bytes, **environment: str) -> subprocess.Popen[bytes]:
        """The same in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            cwd=ROOT,
            env={**self._of_a_process(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def wait(self, process: subprocess.Popen[bytes]) -> Ran:
        out, err = process.communicate(timeout=30)
        return Ran(process.returncode, out.decode(), err.decode())
