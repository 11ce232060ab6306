"""The one rule of calls and results: each tool call is followed at once by exactly one result, in declared order.

A result is a message of role ``tool`` with one block. The pictures of a step stand in one user message after its
last result, and what the user said meanwhile after that. Sessions, abort, steering and the compiler all ask here.

Everything is pure. Ids and times of what a repair adds are derived from the messages around it, so that a damaged
history repairs to the same values every time, and a repaired one stays as it is.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from app.engine.messages import (
    Image,
    Marker,
    MarkerKind,
    Message,
    Reasoning,
    ResultStatus,
    Text,
    ToolCall,
    ToolResult,
)
from app.engine.weave import Healed, Mutating, Weave, is_mutating, without_outcome
from app.infra.ids import NewId

__all__ = [
    "Healed",
    "Mutating",
    "Outcome",
    "close_step",
    "fits",
    "heal",
    "is_mutating",
    "is_paired",
    "open_calls",
    "repair",
    "results_in_order",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call came to. ``error`` is the code of a failure."""

    call_id: str
    text: str
    error: str | None = None
    images: tuple[Image, ...] = ()

    @classmethod
    def of_parts(cls, call_id: str, parts: Iterable[Text | Image], error: str | None = None) -> Outcome:
        """One outcome of an answer that came in several parts."""
        parts = tuple(parts)
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        return cls(call_id, text, error, tuple(part for part in parts if isinstance(part, Image)))


def repair(
    messages: Iterable[Message], *, started: Collection[str] = (), mutating: Mutating = is_mutating
) -> tuple[Message, ...]:
    """The same history, paired. ``started`` are the ids of calls that the journal says were begun."""
    return heal(messages, started=started, mutating=mutating).messages


def heal(
    messages: Iterable[Message],
    *,
    started: Collection[str] = (),
    mutating: Mutating = is_mutating,
    open_end: bool = False,
) -> Healed:
    """``repair`` that also tells what it made up. With ``open_end`` the last step may still lack results.

    A result answers the nearest call of its id that stands before it, wherever it was found; a real one beats an
    interrupted one, and the first real one counts. Dropped are results without such a call, blank text and
    messages of nothing but reasoning.
    """
    messages = tuple(messages)
    if is_paired(messages, open_end=open_end):
        return Healed(messages, ())
    weave = Weave()
    for message in messages:
        weave.add(message)
    return weave.finish(started, mutating, open_end)


def is_paired(messages: Sequence[Message], *, open_end: bool = False) -> bool:
    """Whether a repair would change nothing. With ``open_end`` the last step may still lack results."""
    waiting: deque[str] = deque()
    for message in messages:
        if message.role == "tool":
            if not waiting or not _answers(message, waiting.popleft()):
                return False
        elif waiting:
            return False
        else:
            asked = _asked(message)
            if asked is None:
                return False
            if asked:
                waiting.extend(asked)
    return open_end or not waiting


def fits(history: Sequence[Message], message: Message) -> bool:
    """Whether the message may follow the paired history as it is, its last step open or not."""
    return is_paired([*_last_step(history), message], open_end=True)


def open_calls(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls of the last assistant message that have no result yet."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message.role == "assistant":
            return tuple(call for call in message.calls if call.id not in answered)
        answered.update(result.call_id for result in message.results)
    return ()


def results_in_order(
    calls: Sequence[ToolCall],
    outcomes: Iterable[Outcome],
    *,
    new_id: NewId,
    time: str,
    running: Collection[str] = (),
    mutating: Mutating = is_mutating,
) -> tuple[Message, ...]:
    """The messages that answer ``calls``, whatever the order in which the outcomes came.

    A call without an outcome was interrupted, or is of unknown outcome if it was ``running`` and mutating.
    """
    known: defaultdict[str, deque[Outcome]] = defaultdict(deque)
    for outcome in outcomes:
        known[outcome.call_id].append(outcome)
    blocks: list[ToolResult] = []
    images: list[Image] = []
    for call in calls:
        if known[call.id]:
            outcome = known[call.id].popleft()
            status: ResultStatus = "ok" if outcome.error is None else "error"
            blocks.append(ToolResult(call.id, outcome.text, status, outcome.error))
            images.extend(outcome.images)
        else:
            blocks.append(without_outcome(call, call.id in running and mutating(call.name)))
    answers = tuple(Message("tool", (block,), new_id("msg"), time) for block in blocks)
    return (*answers, Message("user", tuple(images), new_id("msg"), time)) if images else answers


def close_step(
    messages: Sequence[Message],
    outcomes: Iterable[Outcome] = (),
    *,
    new_id: NewId,
    time: str,
    running: Collection[str] = (),
    mutating: Mutating = is_mutating,
    marker: MarkerKind = "stopped_by_user",
) -> tuple[Message, ...]:
    """What to append to a run that ends early, so that its open step is paired and a marker says why."""
    calls = open_calls(messages)
    closing = Marker(marker)
    if not calls and messages and messages[-1].blocks == (closing,):
        return ()
    results = results_in_order(calls, outcomes, new_id=new_id, time=time, running=running, mutating=mutating)
    return (*results, Message("assistant", (closing,), new_id("msg"), time))


def _answers(message: Message, call_id: str) -> bool:
    blocks = message.blocks
    return len(blocks) == 1 and isinstance(blocks[0], ToolResult) and blocks[0].call_id == call_id


def _asked(message: Message) -> Sequence[str] | None:
    """The ids of its calls; None for a message that cannot stand as it is."""
    ids: list[str] = []
    said = False
    for block in message.blocks:
        if isinstance(block, Text):
            if not block.text or block.text.isspace():
                return None
            said = True
        elif isinstance(block, ToolCall):
            ids.append(block.id)
        elif isinstance(block, ToolResult):
            return None
        elif not isinstance(block, Reasoning):
            said = True
    if not ids:
        return ids if said else None
    return ids if message.role == "assistant" and "" not in ids and len(set(ids)) == len(ids) else None


def _last_step(history: Sequence[Message]) -> Sequence[Message]:
    for back, message in enumerate(reversed(history), 1):
        if message.role == "assistant":
            return history[-back:]
    return history
