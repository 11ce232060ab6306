"""A long session: opening it whole, adding to it, and deciding whether it is to be compacted."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from app.engine.compaction import decide
from app.engine.messages import Message, Role, Text, ToolCall, ToolResult
from app.engine.session import JsonlSession
from app.engine.tokens import Estimator
from app.engine.view import GrowingView
from bench.figure import Figure, interleaved, ratio

MESSAGES = 10_000
BYTES = 50_000_000
ROUNDS = 15
"""A machine that is shared goes at two speeds, and a few rounds fall on one of them for ours only."""
NOW = "2026-11-30T14:00:00.000Z"


PROSE = """\
The harbour lies in the lee of the cape, and the tide runs along the quay. "Low water" is at six:
until then nothing of more than two metres comes in.

- the north quay is for *fishing boats*
- the south quay is for guests, see `moorings.md`

"""
CODE = """\
def depth(quay: str, hour: int) -> float:
    \"\"\"Metres of water at a quay.\"\"\"
    if quay not in QUAYS:
        raise ValueError(f"There is no quay {quay!r}.\\n")
\treturn QUAYS[quay] + TIDE[hour % 12]

"""


def history() -> list[Message]:
    """Questions, calls, results and answers that fill the file: text with line ends and quotes, as it comes."""
    each = BYTES // MESSAGES
    prose, code = PROSE * (each // len(PROSE)), CODE * (each // len(CODE))
    turns: list[Message] = []
    for number in range(MESSAGES // 4):
        asked = ToolCall(f"c{number}", "read_file", {"path": f"notes/{number}.md", "range": None})
        turns += [
            Message("user", (Text(prose),), f"u{number}", NOW),
            Message("assistant", (Text(prose), asked), f"a{number}", NOW),
            Message("tool", (ToolResult(asked.id, code),), f"t{number}", NOW),
            Message("assistant", (Text(prose),), f"e{number}", NOW),
        ]
    return turns


def measure() -> Iterator[Figure]:
    with asyncio.Runner() as runner, TemporaryDirectory() as name:
        path = Path(name) / "long.jsonl"
        messages = history()
        session = runner.run(JsonlSession.open(path))
        runner.run(session.append(*messages))

        def load() -> float:
            begun = time.process_time()
            assert len(runner.run(JsonlSession.open(path)).messages) == MESSAGES
            return time.process_time() - begun

        def parse() -> float:
            begun = time.process_time()
            with path.open("rb") as file:
                assert len([json.loads(line) for line in file]) == MESSAGES  # kept, as ours are
            return time.process_time() - begun

        ours, reference = interleaved(ROUNDS, load, parse)
        what = f"{MESSAGES:,} messages, {path.stat().st_size / 1e6:.0f} MB, opened; against json.loads, CPU"
        yield ratio(what, ours, reference, 0.45, unit="ms", scale=1000)

        def append() -> float:
            roles: tuple[Role, Role] = ("user", "assistant")
            new = [Message(roles[n % 2], (Text("Go on."),), f"n{n}", NOW) for n in range(200)]

            async def one_by_one() -> None:
                for message in new:
                    await session.append(message, sync=False)

            begun = time.perf_counter()
            runner.run(one_by_one())
            return (time.perf_counter() - begun) / len(new)

        (added,) = interleaved(ROUNDS, append)
        yield Figure("a message appended without a sync", median(added) * 1e6, "µs", 30)

        view, estimator = GrowingView(), Estimator()

        def look() -> float:
            begun = time.perf_counter()
            estimator.request("", (), view.of(session.messages).messages)
            return time.perf_counter() - begun

        (looks,) = interleaved(ROUNDS, look)
        yield Figure("the size of the request known again, before each call", median(looks) * 1000, "ms", 3)

        def decision() -> float:
            seen = view.of(session.messages).messages
            sizes = estimator.sizes(seen)
            begun = time.perf_counter()
            decide(seen, sizes, window=1_000_000, fixed=5_000)
            return time.perf_counter() - begun

        (decisions,) = interleaved(ROUNDS, decision)
        yield Figure("decision where to compact", median(decisions) * 1000, "ms", 20)
