"""What a confined program tries, as a program of its own: one JSON object as argument, one JSON line as answer."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    told = json.loads(sys.argv[-1])
    inside, outside, hidden = (Path(told[name]) for name in ("inside", "outside", "hidden"))
    answer = {
        "wrote_inside": _managed(lambda: (inside / "file").write_bytes(b"x")),
        "wrote_outside": _managed(lambda: (outside / "file").write_bytes(b"x")),
        "read_hidden": _managed((hidden / "secret").read_bytes),
        "reached_network": _managed(lambda: socket.create_connection(("127.0.0.1", told["port"]), 5).close()),
    }
    sys.stdout.write(json.dumps(answer) + "\n")


def _managed(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True
