"""What the model sees of a history: the last summary in the place of what it replaces, then the kept tail.

The history itself is never shortened: a summary is one more message at its end. Between two summaries a view only
grows, message by message the very same values, so that caches of its beginning hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_

from msgspec.structs import replace

from app.engine.compaction import Compact, is_inside_step
from app.engine.messages import Message, Summary, Text
from app.engine.tokens import estimate_message


@dataclass(frozen=True, slots=True)
class View:
    """``messages`` begin with ``head`` that are no part of the history's tail: a summary and what is sent again."""

    messages: tuple[Message, ...]
    head: int = 0


def view(history: Sequence[Message]) -> View:
    """The view of a paired history; it is paired too."""
    at = next((place for place in range(len(history) - 1, -1, -1) if history[place].summary), None)
    if at is None:
        return View(tuple(history))
    summary = history[at].summary
    assert summary is not None
    start = _start_of_tail(history, at, summary.kept_from)
    again = [
        message
        for message in history[:start]
        if message.id in summary.resend and message.role == "user" and message.summary is None
    ]
    tail = [message for message in history[start:] if message.summary is None]
    return View((history[at], *again, *tail), 1 + len(again))


def replaced_by(summary_id: str, history: Sequence[Message]) -> tuple[Message, tuple[Message, ...]] | None:
    """A summary of a paired history, and what left the view when it came; None where there is no such summary."""
    at = next(
        (at for at, message in enumerate(history) if message.id == summary_id and message.summary), None
    )
    if at is None:
        return None
    still_seen = {message.id for message in view(history[: at + 1]).messages}
    before = view(history[:at]).messages
    return history[at], tuple(message for message in before if message.id not in still_seen)


class GrowingView:
    """The view of one history that is looked at again and again; a look costs what is new."""

    def __init__(self) -> None:
        self._history: Sequence[Message] = ()
        self._view = View(())

    def of(self, history: Sequence[Message]) -> View:
        """``view(history)``."""
        if history is self._history:
            return self._view
        known = len(self._history)
        new = tuple(history[known:])
        grown = known <= len(history) and all(map(is_, self._history, history))
        if not grown or any(message.summary for message in new):
            self._view = view(history)
        elif new:
            self._view = View(self._view.messages + new, self._view.head)
        self._history = tuple(history)
        return self._view


def summary_message(
    seen: View, decision: Compact, blocks: tuple[Text, ...], *, id: str, time: str
) -> Message:
    """What to append to the history so that its view becomes ``blocks``, what is sent again, and the kept tail."""
    tail = max(decision.cut, seen.head)
    again = [*decision.resend, *range(decision.cut, seen.head)]
    message = Message("user", blocks, id, time)
    summary = Summary(
        kept_from=seen.messages[tail].id if tail < len(seen.messages) else None,
        resend=tuple(seen.messages[place].id for place in again),
        tokens_before=decision.tokens_before,
        tokens_after=decision.tokens_kept + estimate_message(message),
    )
    return replace(message, summary=summary)


def before_tail(history: Sequence[Message], seen: View, cut: int) -> Sequence[Message]:
    """All of the history that stands before the tail kept by the cut: what the record of a summary is taken from."""
    tail = max(cut, seen.head)
    if tail >= len(seen.messages):
        return history
    first = seen.messages[tail]
    return history[: next(place for place in range(len(history) - 1, -1, -1) if history[place] is first)]


def _start_of_tail(history: Sequence[Message], at: int, kept_from: str | None) -> int:
    """Where the tail of the summary at ``at`` begins, a whole step first; at the summary where it cannot be found."""
    for place in range(at - 1, -1, -1):
        if history[place].id == kept_from:
            while place > 0 and is_inside_step(history, place):
                place -= 1
            return place
    return at
