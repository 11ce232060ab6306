"""The danger gate: how long a verdict on one command takes, from its text."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.facts import Facts
from app.hands.permissions.risk import judge
from bench.figure import Figure

ROUNDS = 200
FACTS = Facts(
    "/home/ada/app", "/home/ada", ClosedPlaces(Path("/home/ada"), own=(Path("/home/ada/.plancia"),))
)
ORDINARY = "cd src && grep -rn 'def main' . --include='*.py' | sort | head -20 > ../build/found.txt"
LONG = "set -euo pipefail\n" + "".join(
    f'for f in src/{n}/*.py; do\n  if grep -q "x{n}" "$f"; then\n    wc -l "$f" >> build/{n}.txt\n  fi\ndone\n'
    for n in range(12)
)
DOCUMENT = "cat > notes.md <<'EOF'\n" + "a line of text that says nothing\n" * 500 + "EOF\n"


def measure() -> list[Figure]:
    return [
        Figure("verdict on an ordinary command", milliseconds(lambda: judge(ORDINARY, FACTS)), "ms", 2.0),
        Figure("verdict on a script of 60 lines", milliseconds(lambda: judge(LONG, FACTS)), "ms", 20.0),
        Figure("verdict on a document of 500 lines", milliseconds(lambda: judge(DOCUMENT, FACTS)), "ms", 2.0),
    ]


def milliseconds(work: Callable[[], object]) -> float:
    """Median of one run, after a first one that is not counted."""
    work()
    values = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        values.append(time.perf_counter() - begin)
    return median(values) * 1000
