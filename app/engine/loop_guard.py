"""Notices a run that goes in circles: first the model is told, then the run is stopped before the next such call.

Three ways to get nowhere, one guard: the same call in a row, a ring of a few calls, and steps that bring nothing new.
What moves is left alone: other arguments are another call, and a success with a new answer is polling, not a loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal

import msgspec

from app.engine.messages import ToolCall

WARN_AT = 3
"""Rounds of the same call, or of the same ring of calls, after which the model is warned."""

STOP_BEFORE = 5
"""The round that is not run to its end any more."""

LONGEST_RING = 3
"""Calls in a ring."""

IDLE_WARN_AT = 6
"""Steps without anything new after which the model is warned."""

IDLE_STOP_AFTER = 16
"""Steps without anything new after which no further call is run."""

REMEMBERED = 512
"""Calls whose last answer is known; the one made longest ago is forgotten."""

VOLATILE = frozenset(
    {
        "requestid",
        "reqid",
        "correlationid",
        "idempotencykey",
        "traceid",
        "spanid",
        "nonce",
        "timestamp",
        "createdat",
        "updatedat",
    }
)
"""Keys of arguments that differ in every call and mean nothing, without their case, ``_`` and ``-``."""

_VOLATILE_BYTES = tuple(key.encode() for key in VOLATILE)

LoopKind = Literal["repeat", "ring", "idle"]

_SEEN: dict[LoopKind, str] = {
    "repeat": "{name} was called {count} times in a row with the same arguments",
    "ring": "the same few calls were made {count} times over with the same answers",
    "idle": "the last {count} steps brought nothing new",
}


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that was noticed at a call of ``name``; ``count`` is in rounds, of ``idle`` in steps."""

    kind: LoopKind
    name: str
    count: int

    @property
    def warning(self) -> str:
        """What the model is told."""
        return (
            f"[Loop warning: {_SEEN[self.kind].format(name=self.name, count=self.count)}. Going on like this stops"
            " the run. Use what you know already, try something different, or say what stands in the way.]"
        )


@dataclass(slots=True, eq=False)
class _Made:
    """A call and its answer; None while it runs, which counts as the same answer again."""

    signature: bytes
    answer: bytes | None = None
    failed: bool = False

    def repeats(self, older: _Made) -> bool:
        """An error that says something else is still an error; a success that does has moved."""
        if self.signature != older.signature:
            return False
        return self.failed or None in (self.answer, older.answer) or self.answer == older.answer


class LoopGuard:
    """Watches one run; when the user says something, a new one begins. What it holds and costs is bounded."""

    def __init__(self) -> None:
        self._recent: deque[_Made] = deque(maxlen=LONGEST_RING * (STOP_BEFORE + 1) + LONGEST_RING)
        self._running: dict[str, _Made] = {}
        self._known: dict[bytes, bytes] = {}
        self._idle_steps = 0
        self._answered = self._new = False
        self._last_name = ""

    def before(self, call: ToolCall) -> Loop | None:
        """None where the call may run, else the loop for which the run has to stop. Asked once a call, in order."""
        if self._idle_steps >= IDLE_STOP_AFTER:
            return Loop("idle", call.name, self._idle_steps)
        made = _Made(signature_of(call))
        self._recent.append(made)
        for length, repeated in self._repetitions(made):
            if repeated >= (STOP_BEFORE - 1) * length:
                self._recent.pop()
                return Loop("repeat" if length == 1 else "ring", call.name, STOP_BEFORE - 1)
        self._running[call.id] = made
        return None

    def after(self, call: ToolCall, text: str, is_error: bool) -> Loop | None:
        """What a call came to, calls that ran side by side in any order. A loop is returned once, to warn of it."""
        made = self._running.pop(call.id, None)
        if made is None:
            return None
        made.answer, made.failed = _digest(f"{is_error} {text}"), is_error
        self._answered, self._last_name = True, call.name
        self._new = self._is_new(made) or self._new
        for length, repeated in self._repetitions(made):
            if repeated == (WARN_AT - 1) * length:
                return Loop("repeat" if length == 1 else "ring", call.name, WARN_AT)
        return None

    def end_step(self) -> Loop | None:
        """All calls of a step are answered. A loop is returned once, to warn of it."""
        if self._answered:
            self._idle_steps = 0 if self._new else self._idle_steps + 1
        self._answered = self._new = False
        return Loop("idle", self._last_name, IDLE_WARN_AT) if self._idle_steps == IDLE_WARN_AT else None

    def _repetitions(self, made: _Made) -> Iterator[tuple[int, int]]:
        """For each length of a ring, how many calls in a row, up to this one, are those of so many calls before."""
        calls = list(self._recent)
        if made in calls:
            calls = calls[: calls.index(made) + 1]
            for length in range(1, LONGEST_RING + 1):
                yield length, _repeated(calls, length)

    def _is_new(self, made: _Made) -> bool:
        """Whether a call succeeded with another answer than it had before, if it was made before."""
        assert made.answer is not None
        if made.failed:
            return False
        before = self._known.pop(made.signature, None)
        self._known[made.signature] = made.answer
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return before != made.answer


def _repeated(calls: list[_Made], length: int) -> int:
    """How many calls at the end are those of ``length`` calls before. Rings have unlike calls."""
    count = 0
    while count + length < len(calls) and calls[-1 - count].repeats(calls[-1 - count - length]):
        count += 1
    ring = calls[-length:]
    alike = count and length > 1 and all(one.signature == other.signature for one, other in pairwise(ring))
    return 0 if alike else count


def signature_of(call: ToolCall) -> bytes:
    """The same for calls that ask the same, whatever the order of their keys and whatever is volatile in them."""
    arguments = _written(call.arguments)
    if _names_volatile(arguments):
        arguments = _written(_settled(call.arguments))
    return blake2b(
        b"\n".join((_bytes(call.name), _bytes(call.raw or ""), arguments)), digest_size=16
    ).digest()


def _written(arguments: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(arguments, order="sorted")
    except (
        TypeError,
        ValueError,
        RecursionError,
    ):  # what a model sends can be no JSON that another one would take
        return _bytes(repr(arguments))


def _names_volatile(written: bytes) -> bool:
    """The cheap question, as arguments may be a whole book; now and then it says yes to a text."""
    plain = written.lower().replace(b"_", b"").replace(b"-", b"")
    return any(key in plain for key in _VOLATILE_BYTES)


def _settled(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _settled(one) for key, one in value.items() if not _is_volatile(str(key))}
        case list() | tuple():
            return [_settled(one) for one in value]
        case _:
            return value


def _is_volatile(key: str) -> bool:
    return key.lower().replace("_", "").replace("-", "") in VOLATILE


def _digest(text: str) -> bytes:
    return blake2b(_bytes(text), digest_size=16).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
