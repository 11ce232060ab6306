"""When a history is compacted, and where it is cut. Pure: sizes in, a decision out.

Old messages are replaced by one summary, the most recent ones are kept as they are. ``projection`` writes what the
summary is made from, ``frontier`` is what it has to say, ``view`` puts it in the place of what it replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from app.engine.messages import Image, Marker, Message

THRESHOLD = 0.8
"""Share of the window from which a request is compacted."""

LEAST_GAIN = 0.1
"""Share of the window that a compaction has to free; as much has to be left beside prompt and tools."""

NEARLY_FULL = 0.9
"""Share of the window that a request has to stay under after a compaction."""

TAIL_SHARE = 0.25
"""Share of the room for messages that the kept tail may take; the last step is kept whatever it takes."""

RESEND_SHARE = 0.1
"""Share of the window for what the user said in the current turn before the last message."""

IN_A_ROW = 3
"""Compactions without progress after which a run is stopped."""


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier compaction of this run: tokens of the whole request before and after it."""

    before: int
    after: int

    @property
    def is_progress(self) -> bool:
        return self.before - self.after >= LEAST_GAIN * self.before


@dataclass(frozen=True, slots=True)
class Nothing:
    """The request is small enough."""

    kind: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class Compact:
    """``messages[cut:]`` stay, one summary replaces the others; those at ``resend`` are sent again word for word."""

    cut: int
    resend: tuple[int, ...]
    tokens_before: int
    tokens_kept: int
    """Of the request without the summary: prompt and tools, tail, what is sent again."""
    kind: Literal["compact"] = "compact"


@dataclass(frozen=True, slots=True)
class Skip:
    """Compacting would free ``gain`` tokens, too few for a call of the model."""

    gain: int
    kind: Literal["skip"] = "skip"


@dataclass(frozen=True, slots=True)
class Stop:
    """The run cannot go on in this window; ``sentence`` says why and what the user can do."""

    sentence: str
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class TooSmall:
    """The window cannot even hold what every request of this agent carries."""

    sentence: str
    kind: Literal["too_small"] = "too_small"


Decision = Nothing | Compact | Skip | Stop | TooSmall

_CHOICES = "Choose a model with a larger window, or begin a new conversation."


def is_due(tokens: int, window: int, threshold: float = THRESHOLD) -> bool:
    """Whether a request of so many tokens is to be compacted: the cheap question before ``decide``."""
    return tokens >= threshold * window


def summary_budget(window: int) -> int:
    """Tokens that a summary, with all that is told beside it, may have in this window."""
    return min(max(window // 16, 600), 6_000)


def decide(
    messages: Sequence[Message],
    sizes: Sequence[int],
    *,
    window: int,
    fixed: int,
    past: Sequence[Past] = (),
    threshold: float = THRESHOLD,
    overflowed: bool = False,
) -> Decision:
    """What to do before the next call.

    ``messages`` are paired and as the model sees them, ``sizes`` their tokens, ``fixed`` those of prompt and tools.
    ``window`` is that of the model that will answer, ``past`` the compactions of this run, oldest first.
    ``overflowed``: that model said that the request is too long, whatever our estimate is.
    """
    if fixed > (1 - LEAST_GAIN) * window:
        return TooSmall(
            f"This model holds {window:,} tokens, and the instructions and tools of this agent alone take about"
            f" {fixed:,}. Choose a model with a larger window, or give the agent fewer tools."
        )
    total = fixed + sum(sizes)
    if not overflowed and not is_due(total, window, threshold):
        return Nothing()
    recent = past[-IN_A_ROW:]
    if len(recent) == IN_A_ROW and not any(one.is_progress for one in recent):
        return Stop(
            f"This conversation fills the model's window of {window:,} tokens, and summarising it {IN_A_ROW} times"
            f" in a row made no room. {_CHOICES}"
        )
    if overflowed:
        window = min(window, total)
    best = _best_cut(messages, sizes, window=window, fixed=fixed, threshold=threshold, total=total)
    if isinstance(best, Skip) and overflowed:
        return Stop(
            "The model refuses this conversation as too long, and a summary of its older part would not make enough"
            f" room: the latest messages alone are most of it. {_CHOICES}"
        )
    return best


def list_cuts(messages: Sequence[Message]) -> list[int]:
    """The places where a paired history may be cut: never between a call, its result and the step's pictures."""
    return [place for place in range(1, len(messages)) if not is_inside_step(messages, place)]


def said_last(messages: Sequence[Message]) -> list[int]:
    """Where the user spoke in the current turn, in order: the request, and what was said while it was worked on."""
    places: list[int] = []
    broke_off = False
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role == "assistant" and not message.calls:
            was_last_word = not (broke_off or _is_marker(message))
            broke_off = _is_marker(message)
            if places and was_last_word:
                break
        if message.summary is not None:
            break
        if message.role == "user" and not is_inside_step(messages, place):
            places.append(place)
    return places[::-1]


def _is_marker(message: Message) -> bool:
    """Whether it only says that what stands before it ended early, so that the turn goes on behind it."""
    return all(isinstance(block, Marker) for block in message.blocks)


def is_inside_step(messages: Sequence[Message], place: int) -> bool:
    """Whether the message belongs to the one before it: a result, or the pictures of a step."""
    message = messages[place]
    if message.role == "tool":
        return True
    follows = place > 0 and messages[place - 1].role == "tool"
    return follows and message.role == "user" and all(isinstance(block, Image) for block in message.blocks)


def _best_cut(
    messages: Sequence[Message],
    sizes: Sequence[int],
    *,
    window: int,
    fixed: int,
    threshold: float,
    total: int,
) -> Compact | Skip:
    """The cut that keeps the longest tail of those that are worth a summary."""
    tails = [*accumulate(reversed(sizes), initial=0)][::-1]
    room = TAIL_SHARE * (threshold * window - fixed)
    again = _to_resend(messages, sizes, RESEND_SHARE * window)
    most = 0
    for cut in _short_tails(list_cuts(messages), tails, room):
        resend = tuple(place for place in again if place < cut)
        kept = fixed + tails[cut] + sum(sizes[place] for place in resend)
        gain = total - kept - summary_budget(window)
        most = max(most, gain)
        if gain >= LEAST_GAIN * window and total - gain < NEARLY_FULL * window:
            return Compact(cut, resend, total, kept)
    return Skip(most)


def _short_tails(cuts: Sequence[int], tails: Sequence[int], room: float) -> Iterator[int]:
    """The cuts whose tail is no longer than it may be; the last one whatever its length."""
    yield from (cut for cut in cuts if tails[cut] <= room or cut == cuts[-1])


def _to_resend(messages: Sequence[Message], sizes: Sequence[int], room: float) -> list[int]:
    """What the user said last, and before it in the current turn what fits: the request first, then the newest."""
    said = said_last(messages)
    chosen = said[-1:]
    for place in [*said[:-1][:1], *said[-2:0:-1]]:
        if sizes[place] <= room:
            chosen.append(place)
            room -= sizes[place]
    return sorted(chosen)
