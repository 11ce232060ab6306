"""A command and all that it started, in the eyes of its supervisor, which is a process of its own.

On Linux the supervisor adopts what loses its parent, so that nothing that was ever started gets out of its sight,
whatever session or group it went to. Elsewhere a program that leaves its group and outlives its parent is lost.
Knows nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

BEGUN = 9
"""The descriptor on which a command says that it begins, after all that had to be set up for it; see ``announced``."""

_HAS_PROC = Path("/proc/self/stat").exists()
_ADOPT = 36
"""``PR_SET_CHILD_SUBREAPER`` of prctl(2)."""
_FORCED_SECONDS = 5.0
"""For which what does not die of SIGKILL is tried again: longer, and the system itself holds it."""
_BETWEEN_KILLS = 0.01
_WRAPPERS = frozenset({"bwrap"})
"""Programs that end all they hold at once when they are asked to end: they are not asked."""


def reserve() -> None:
    """Hold that descriptor: no shell has a word for those above it. To be called before any other is opened.

    Whatever came along from the app is let go: who waits there for its end would wait for this process.
    """
    # uvloop leaves its ends of the pipes open in a child, once more beside those at 0, 1 and 2.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, BEGUN, inheritable=False)
    os.close(nothing)


def announced(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command, and before it the word that it begins: without that word it never ran."""
    return ("/bin/sh", "-c", f'printf b >&{BEGUN} || exit 126; exec {BEGUN}>&-; exec "$@"', "sh", *argv)


class Wakes:
    """Signals as bytes to be waited for beside other descriptors: the end of a child, and being asked to stop."""

    def __init__(self) -> None:
        self.descriptor, told = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, _noted)

    def read(self) -> set[int]:
        """The signals that came."""
        try:
            return set(os.read(self.descriptor, 4096))
        except BlockingIOError:
            return set()

    def wait(self, seconds: float) -> None:
        select.select([self.descriptor], [], [], max(0.0, seconds))
        self.read()


class Offspring:
    """The running command and what came of it. Only for the main thread of a process that has no other children.

    ``reserve`` has to come first.
    """

    def __init__(
        self, order: Mapping[str, Any], wakes: Wakes, stdin: int, output: int, first: Callable[[], None]
    ) -> None:
        """Start ``argv`` in ``folder`` with ``environment``; in its process ``first`` comes before it.

        Raises ``OSError``.
        """
        self._wakes = wakes
        self._adopts = _adopt_orphans()
        self._gone = False
        self._has_begun = False
        self.status: int | None = None
        """Of the command itself, as waitpid gives it; None while it runs."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.begun, told = os.pipe()
        """Readable as soon as there is something to know of that."""
        os.set_blocking(self.begun, False)
        os.dup2(told, BEGUN)
        os.close(told)
        self._clock = time.monotonic()
        try:
            process = subprocess.Popen(
                order["argv"],
                stdin=stdin,
                stdout=output,
                stderr=output,
                cwd=order["folder"],
                env=order["environment"],
                start_new_session=True,
                pass_fds=(BEGUN,),
                preexec_fn=first,
            )
        finally:
            os.close(BEGUN)
        self.pid = process.pid
        process.returncode = 0  # it is collected here, with all the others

    def has_begun(self) -> bool:
        """Whether the command itself runs, or has run, after all that was to be set up for it."""
        if not self._has_begun:
            with suppress(BlockingIOError):
                self._has_begun = os.read(self.begun, 1) == b"b"
        return self._has_begun

    def collect(self) -> None:
        """Take note of all that have ended."""
        while not self._gone:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._gone = True
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = status

    def end(self, grace: float) -> int:
        """End all: asked first, after ``grace`` seconds forced. How many ran beside the command when it was over."""
        self.collect()
        left = [] if self._gone else [pid for pid in _below(os.getpid()) if not _is_wrapper(pid)]
        for pid in left:
            _send(pid, signal.SIGTERM)
        self._wait(time.monotonic() + grace)
        until = time.monotonic() + _FORCED_SECONDS
        while not self._gone and time.monotonic() < until:
            self._force()
            self._wait(time.monotonic() + _BETWEEN_KILLS)
        if not self._adopts:
            _send_group(self.pid, signal.SIGKILL)
        return len([pid for pid in left if pid != self.pid])

    def told(self, how: str, left: int) -> dict[str, Any]:
        """The end in words that travel: ``how`` it came, and what the command said with it."""
        status = self.status
        return {
            "how": how,
            "begun": self.has_begun(),
            "code": os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
            "seconds": round(time.monotonic() - self._clock, 3),
            "left": left,
        }

    def _wait(self, until: float) -> None:
        self.collect()
        while not self._gone and (seconds := until - time.monotonic()) > 0:
            self._wakes.wait(seconds)
            self.collect()

    def _force(self) -> None:
        """A group dies as a whole, one that forks on and on too."""
        for pid in list(_below(os.getpid())):
            with suppress(ProcessLookupError):
                group = os.getpgid(pid)
                if group != os.getpgrp():
                    _send_group(group, signal.SIGKILL)
            _send(pid, signal.SIGKILL)


def _noted(number: int, frame: object) -> None:
    """The byte in the pipe is all that is needed."""


def _adopt_orphans() -> bool:
    return sys.platform == "linux" and bool(ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0) == 0)


def _below(root: int) -> Iterator[int]:
    """All that descend from ``root`` and run."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            waiting.append(pid)
            yield pid


def _parents() -> Iterator[tuple[int, int]]:
    """Process and parent of all that run."""
    if not _HAS_PROC:
        with subprocess.Popen(("ps", "-axo", "pid=,ppid="), stdout=subprocess.PIPE) as ps:
            pairs = [tuple(map(int, line.split())) for line in ps.communicate()[0].splitlines()]
        yield from ((pid, parent) for pid, parent in pairs if pid != ps.pid)
        return
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all that is wanted, of thousands
        if name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                facts = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                if facts[0] != b"Z":
                    yield int(name), int(facts[1])


def _is_wrapper(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip() in _WRAPPERS
    except OSError:
        return False


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _send_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
