"""The search as a program of its own, with nothing but the standard library: an endless pattern can be stopped here.

Takes one JSON object on standard input, gives one JSON line for each hit.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

from app.hands.errors import Refused
from app.hands.grep import Hit, Search, SlowPattern, grep
from app.hands.limits import SLOW_PATTERN_SECONDS
from app.hands.patterns import Matcher, Query, Span, matcher_for
from app.hands.permissions.closed_places import ClosedPlaces
from app.hands.permissions.paths import PathGate
from app.hands.scan import Found, Line


def order(gate: PathGate, search: Search, candidates: list[str] | None) -> bytes:
    """What the program is told."""
    closed = gate.closed
    places = {
        "home": [closed.home],
        "own": closed.own,
        "opened": closed.opened,
        "folders": gate.folders,
        "read_only": gate.read_only,
    }
    texts = {name: [str(path) for path in paths] for name, paths in places.items()}
    return json.dumps({"search": asdict(search), "candidates": candidates, **texts}).encode()


def hit_from(line: bytes) -> Hit:
    """What it answers. Raises ``Refused`` where it refused."""
    told = json.loads(line)
    if "refused" in told:
        raise Refused(*told["refused"])
    if told["found"] is None:
        return Hit(told["path"], None)
    lines = tuple(Line(**line) for line in told["found"]["lines"])
    return Hit(told["path"], Found(told["found"]["count"], lines))


def main() -> None:
    told = json.load(sys.stdin)
    home, own, opened, folders, read_only = (
        [Path(text) for text in told[key]] for key in ("home", "own", "opened", "folders", "read_only")
    )
    try:
        closed = ClosedPlaces(home[0], tuple(own), tuple(opened))
        gate = PathGate(folders[0], folders[1:], closed=closed, read_only=read_only)
        search = Search(Query(**told["search"].pop("query")), **told["search"])
        for hit in grep(gate, search, _Timed(matcher_for(search.query)), told["candidates"]):
            _say(asdict(hit))
    except Refused as refused:
        _say({"refused": (refused.code, refused.sentence)})


class _Timed:
    """A matcher that may use so much processor time for one block. Only for the main thread of a process."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        signal.signal(signal.SIGVTALRM, _give_up)

    def spans(self, block: bytes) -> Iterator[Span]:
        signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_PATTERN_SECONDS)
        try:
            return iter(list(self._matcher.spans(block)))
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _give_up(number: int, frame: FrameType | None) -> None:
    raise SlowPattern


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
