"""The command line: from words to the file of ``app/commands`` that does what they ask for.

That file, and with it the rest of the app, is loaded once the command is known.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from app import __version__
from app.commands.grammar import help_of, parser_of, route
from app.commands.terminal import Terminal

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from app.commands.serve import Page
    from app.workbench import Workbench

STOPPED = 130


def main(argv: Sequence[str] | None = None, terminal: Terminal | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 cannot be as typed, 130 stopped."""
    words = list(sys.argv[1:] if argv is None else argv)
    terminal = terminal or Terminal.of_process(os.environ)
    if _debugs(terminal):
        _log_to(terminal)
    try:
        return _obey(words, terminal)
    except KeyboardInterrupt:
        return STOPPED
    except Exception as error:  # noqa: BLE001 - the last place before the user, who gets a sentence
        return _explain(error, terminal)


def _obey(words: list[str], terminal: Terminal) -> int:
    if words == ["--version"]:
        terminal.say(f"plancia {__version__}")
        return 0
    if words[:1] == ["help"] or {"-h", "--help"} & set(words):
        terminal.say(help_of([word for word in words if word not in ("help", "-h", "--help")]))
        return 0
    name, rest = route(words if words and not words[0].startswith("-") else ["serve", *words])
    options = parser_of(name).parse_args(rest)
    file, _, options.action = name.partition(" ")
    import asyncio

    command = import_module(f"app.commands.{file}")
    serves = file == "serve"
    with asyncio.Runner(loop_factory=_fast_loop() if serves else None) as runner:
        work = command.run(options, terminal, _make_page) if serves else command.run(options, terminal)
        code: int = runner.run(work)
    return code


def _make_page(bench: Workbench, *, host: str, port: int, token: str, workspace: Path | None) -> Page:
    from app.main import ServerSettings, create_app

    return create_app(bench, ServerSettings(host, port, token, workspace))


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where it is installed; it pays for itself where many streams are served."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop


def _explain(error: Exception, terminal: Terminal) -> int:
    from app.commands.sentences import cause, told

    if isinstance(cause(error), BrokenPipeError):
        return _leave_quietly()
    if _debugs(terminal):
        import traceback

        traceback.print_exception(error, file=terminal.stderr)
    sentence, code = told(error)
    terminal.tell(sentence)
    return code


def _debugs(terminal: Terminal) -> bool:
    return terminal.environment.get("PLANCIA_DEBUG", "0") not in ("", "0")


def _log_to(terminal: Terminal) -> None:
    """What a turn survives is in the log only, by its classes; whoever looks for a defect wants to see it whole."""
    import logging

    handler = logging.StreamHandler(terminal.stderr)
    handler.setLevel(logging.ERROR)
    logging.getLogger().addHandler(handler)


def _leave_quietly() -> int:
    """Whoever read the answer is gone; nothing may be written any more, not even while Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
