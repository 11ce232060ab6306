"""What a command speaks with: three streams and the environment, as values that a test can make."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TextIO

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"

_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""Characters that a terminal obeys instead of showing them."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Answers go to ``stdout``, everything about them to ``stderr``."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    environment: Mapping[str, str]
    ask_hidden: Callable[[str], str]
    """Asks on the terminal for something that is not shown while it is typed."""

    @classmethod
    def of_process(cls, environment: Mapping[str, str]) -> Self:
        """The process's own; a text that its encoding lacks is escaped instead of ending the command."""
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a TextIOWrapper
        return cls(sys.stdin, sys.stdout, sys.stderr, environment, _ask_hidden)

    @property
    def is_watched(self) -> bool:
        """Somebody reads along on stderr."""
        return self.stderr.isatty()

    @property
    def can_ask(self) -> bool:
        return self.stdin.isatty() and self.stderr.isatty()

    def say(self, text: str) -> None:
        """A line of the answer."""
        self.stdout.write(text + "\n")
        self.stdout.flush()

    def say_json(self, value: Any) -> None:
        self.say(json.dumps(value, indent=2, ensure_ascii=not self.speaks_unicode))

    def say_table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Columns as wide as their widest cell."""
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        for row in (head, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.say(shown("  ".join(cells).rstrip()))

    def tell(self, text: str) -> None:
        """A line about the answer: an error, a warning, what to do next."""
        self.stderr.write(shown(text) + "\n")
        self.stderr.flush()

    def whisper(self, text: str) -> None:
        """A line that only somebody who watches wants."""
        if self.is_watched:
            plain = bool(self.environment.get("NO_COLOR"))
            self.stderr.write(f"{shown(text)}\n" if plain else f"{_DIM}{shown(text)}{_PLAIN}\n")
            self.stderr.flush()

    def ask(self, question: str) -> str:
        """One line from whoever sits there; empty where nobody does."""
        if not self.can_ask:
            return ""
        self.stderr.write(question)
        self.stderr.flush()
        return self.stdin.readline().strip()

    async def line(self) -> str | None:
        """The next line that is typed; None at the end of the input.

        Waited for in the loop and not in a thread: one that sits in a read could not be ended by Ctrl-C.
        """
        import anyio  # here, so that a command that asks nothing starts without it

        with suppress(OSError):  # what has no number is no terminal, and does not wait
            await anyio.wait_readable(self.stdin.fileno())
        read = self.stdin.readline()
        return read.strip() if read else None

    @property
    def speaks_unicode(self) -> bool:
        return (self.stdout.encoding or "utf-8").lower().replace("-", "") == "utf8"


def shown(text: str) -> str:
    """``text`` without what a terminal would obey: models, servers and files must not steer it."""
    return text.translate(_CONTROLS)


def _ask_hidden(question: str) -> str:
    from getpass import getpass

    return getpass(question)
