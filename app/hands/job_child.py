"""The supervisor of a background job: goes on when the app that started it does not, and writes down how it ended.

Told one JSON object on standard input: ``argv``, ``folder``, ``environment``, ``grace``, and ``job``, the folder of
the job. Answers one JSON line: ``pid`` of the supervisor, or ``why`` the job did not begin. The job has a terminal of
its own; its output goes to ``job_log``, what is written to the pipe ``input`` is typed into it, SIGTERM stops it, and
``end.json`` says how it ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.hands.job_log import JobLog
from app.hands.limits import JOB_INPUT
from app.hands.offspring import Offspring, Wakes, reserve
from app.infra.files import write_atomic
from app.infra.processes import Process

_ROWS, _COLUMNS = 40, 120
_AT_ONCE = 65_536
_LAST_READS = 256
"""Of what a job wrote before it ended; a program that got away may write on."""
_HEAD = 1_000
_UNREACHED = "the job was ended before it began"


def main() -> None:
    reserve()
    order = json.loads(sys.stdin.buffer.read())
    answer, told = os.pipe()
    if os.fork():
        os.close(told)
        with open(answer, "rb") as said:  # noqa: PTH123 - a descriptor is no path
            sys.stdout.buffer.write(said.read())
        return
    os.close(answer)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _Job(order, told).run()
    os._exit(0)


class _Job:
    def __init__(self, order: dict[str, Any], told: int) -> None:
        self._order = order
        self._told = told
        self._folder = Path(order["job"])
        self._log = JobLog(self._folder)
        self._head = b""
        """Of its output: why it did not begin, where it did not."""
        self._typed = b""
        """Input that the job has not taken yet."""

    def run(self) -> None:
        os.mkfifo(self._folder / "input", 0o600)
        # Open for both, so that it never ends: writers come and go.
        self._input = os.open(self._folder / "input", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._terminal, inside = _open_terminal()
        self._wakes = Wakes()
        try:
            self._offspring = Offspring(
                self._order, self._wakes, stdin=inside, output=inside, first=_take_terminal
            )
        except OSError as error:
            self._answer({"why": str(error)})
            return
        how, left = "stopped", 0
        try:
            how = self._serve()
        finally:
            left = self._offspring.end(self._order["grace"])
        for _ in range(_LAST_READS):
            if not self._relay():
                break
        told = self._offspring.told(how, left)
        if not told["begun"] and self._told >= 0:
            self._answer({"why": self._head.decode(errors="replace") or _UNREACHED, "unconfined": True})
        write_atomic(self._folder / "end.json", json.dumps(told).encode())

    def _serve(self) -> str:
        """Until the job has ended, or has to."""
        while True:
            waits = [self._wakes.descriptor, self._terminal]
            waits += [self._offspring.begun] if self._told >= 0 else []
            waits += [self._input] if len(self._typed) < JOB_INPUT else []
            select.select(waits, [self._terminal] if self._typed else [], [])
            is_asked_to_end = signal.SIGTERM in self._wakes.read()
            self._relay()
            self._type()
            self._offspring.collect()
            if self._told >= 0 and self._offspring.has_begun():
                self._write_down()
            if self._offspring.status is not None:
                return "exit"
            if is_asked_to_end:
                return "stopped"

    def _relay(self) -> bool:
        """From the terminal to the log; whether there was anything."""
        try:
            data = os.read(self._terminal, _AT_ONCE)
        except OSError:  # nothing there, or nobody at the other end any more
            return False
        self._head += data[: max(0, _HEAD - len(self._head))]
        self._log.add(data)
        return bool(data)

    def _type(self) -> None:
        if len(self._typed) < JOB_INPUT:
            with suppress(BlockingIOError):
                self._typed += os.read(self._input, JOB_INPUT)
        if self._typed:
            with suppress(OSError):
                self._typed = self._typed[os.write(self._terminal, self._typed) :]

    def _write_down(self) -> None:
        """From here on it is a job that can be found again."""
        own = Process.find(os.getpid())
        assert own is not None, "this process runs"
        told = {"pid": own.pid, "started": own.started}
        write_atomic(self._folder / "process.json", json.dumps(told).encode())
        self._answer(told)

    def _answer(self, told: dict[str, Any]) -> None:
        with suppress(OSError):
            os.write(self._told, json.dumps(told).encode())
        os.close(self._told)
        self._told = -1


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _open_terminal() -> tuple[int, int]:
    """Both ends of a new one. It adds no carriage returns, and its outer end never blocks."""
    outside, inside = os.openpty()
    modes = termios.tcgetattr(inside)
    modes[1] &= ~termios.ONLCR
    termios.tcsetattr(inside, termios.TCSANOW, modes)
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    os.set_blocking(outside, False)
    return outside, inside
