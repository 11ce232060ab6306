"""The supervisor of a command that somebody waits for: runs it, and leaves nothing of it behind.

Told one JSON line on standard input: ``argv``, ``folder``, ``environment``, ``grace`` in seconds. The open input is a
leash: when it closes, because the call was cancelled or the app has died, the command is ended. The command writes to
the standard output it was given; how it ended is one JSON line on standard error.
"""

from __future__ import annotations

import json
import os
import select
import signal
from contextlib import suppress
from functools import partial
from typing import Any

from app.hands.offspring import Offspring, Wakes, reserve


def main() -> None:
    reserve()
    with open(0, "rb", buffering=0, closefd=False) as leash:
        order = json.loads(leash.readline())
    nothing = os.open(os.devnull, os.O_RDWR)
    wakes, say = Wakes(), partial(_say, os.dup(2))
    try:
        # The command itself says that it is there: it could kill this process before that does.
        offspring = Offspring(order, wakes, stdin=nothing, output=1, first=lambda: say({"pid": os.getpid()}))
    except OSError as error:
        say({"how": "failed", "why": str(error)})
        return
    os.dup2(nothing, 1)  # the output ends with those who write to it
    how = _watch(offspring, wakes)
    say(offspring.told(how, offspring.end(order["grace"])))


def _watch(offspring: Offspring, wakes: Wakes) -> str:
    while True:
        ready, _, _ = select.select([0, wakes.descriptor], [], [])
        is_asked_to_end = signal.SIGTERM in wakes.read()
        offspring.collect()
        if offspring.status is not None:
            return "exit"
        if is_asked_to_end or (0 in ready and not os.read(0, 4096)):
            return "stopped"


def _say(reports: int, told: dict[str, Any]) -> None:
    with suppress(OSError):  # nobody listens any more
        os.write(reports, json.dumps(told).encode() + b"\n")
