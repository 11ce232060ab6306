"""What a summary has to say, in fixed slots, and how a model's answer is checked against them.

A model may leave slots out, talk around them, run on or refuse. What is missing is filled from the record, so that a
usable summary comes out of every answer, and of none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from app.engine.messages import Message, Text
from app.engine.projection import project, shortened
from app.engine.record import Record
from app.engine.surrogates import clean
from app.engine.tokens import estimate_tokens
from app.prompts.rendering import compose

SLOTS = {
    "Goal": "What the user wants to have in the end, and why where it was said.",
    "Done": "What is finished and checked, in order.",
    "In progress": "What was begun and is not finished, and in which state it is.",
    "Next action": "The single next thing to do.",
    "Constraints and corrections of the user": (
        "Every rule, preference and correction of the user that still holds, quoted word for word."
    ),
    "Decisions": "What was decided, with the reason, and what was tried and failed.",
    "Files touched": "Path of each file that was read or changed, with what it holds or what changed in it.",
    "Exact facts": "Names, numbers, identifiers, commands, error texts and references that will be needed, unchanged.",
}
"""Headings, and what belongs below them."""

USABLE = 4
"""Slots that an answer has to fill to be taken for a summary at all."""

CARRIED = ("Goal", "Done", "Constraints and corrections of the user", "Decisions", "Exact facts")
"""Slots of the summary before that still hold where no model says otherwise."""

SLOTS_SHARE = 0.6
"""Of the tokens of a summary: for its slots; the rest is for what is told beside them."""

Frontier = Mapping[str, str]
"""The text of each slot."""

_NAMES = {name.casefold(): name for name in SLOTS}
_MARKS = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)


def ask_for_summary(messages: Sequence[Message], *, budget: int, window: int) -> tuple[str, str]:
    """System prompt and message of the call that summarises. Never raises.

    ``budget`` are the tokens of the summary, ``window`` those of the model that is asked, both by our estimate; with
    an answer as long as the budget it all fits.
    """
    words = int(budget * SLOTS_SHARE * 2 / 3)
    system = compose("compaction", slots=SLOTS.items(), words=words)
    room = int(window * 0.9) - budget - estimate_tokens(system)
    return system, f"{project(messages, max(room, 0))}\n\n=== end of the record ===\nWrite the summary now."


def check_frontier(answer: str, record: Record, budget: int) -> Frontier | None:
    """The slots of a model's answer, what is missing filled from the record; None where it is no summary."""
    found = read_frontier(answer)
    if len(found) < USABLE or "Goal" not in found:
        return None
    return _fitted({**_told(record), **found}, budget)


def frontier_of(record: Record, budget: int) -> Frontier:
    """The slots as far as they can be told without a model."""
    return _fitted(_told(record), budget)


def read_frontier(answer: str) -> dict[str, str]:
    """The slots that an answer fills, however it marks its headings."""
    lines: dict[str, list[str]] = {}
    current: list[str] = []
    for line in clean(answer).splitlines():
        name = _heading(line)
        if name is None:
            current.append(line)
        else:
            current = lines.setdefault(name, [])
    told = {name: "\n".join(own).strip().removesuffix("```").strip() for name, own in lines.items()}
    return {name: _MARKS.sub("", text) for name, text in told.items() if text}


def summary_blocks(frontier: Frontier, record: Record, *, plan: str = "") -> tuple[Text, Text]:
    """What the model reads in the place of the older messages: the summary, and what is told beside it.

    ``plan`` are its open steps, word for word.
    """
    slots = [(name, frontier[name]) for name in SLOTS]
    beside = compose("compaction_context", said=record.said, plan=clean(plan))
    return Text(compose("compaction_view", slots=slots)), Text(f"\n\n{beside}")


def _told(record: Record) -> dict[str, str]:
    files = [*(f"changed: {path}" for path in record.changed), *(f"read: {path}" for path in record.read)]
    slots = {
        "Goal": record.said[0] if record.said else "See what the user says below.",
        "Done": f"Last answer: {record.answer}" if record.answer else "unknown",
        "In progress": _lines(record.failures) or "unknown",
        "Next action": "Go on with what the user asked for last; look at the present state first.",
        "Constraints and corrections of the user": "See what the user said below.",
        "Decisions": "unknown",
        "Files touched": _lines(files) or "none",
        "Exact facts": "Details of earlier steps are not kept here: read again what is needed.",
    }
    earlier = read_frontier(record.earlier)
    carried = {name: earlier[name] for name in CARRIED if name in earlier}
    if record.answer and "Done" in carried:
        carried["Done"] += f"\n{slots['Done']}"
    return {name: _MARKS.sub("", text) for name, text in {**slots, **carried}.items()}


def _fitted(slots: dict[str, str], budget: int) -> Frontier:
    """The slots in their share of the budget: the longest ones are shortened first."""
    sizes = {name: estimate_tokens(text) for name, text in slots.items()}
    while sum(sizes.values()) > budget * SLOTS_SHARE and max(sizes.values()) > 40:
        longest = max(sizes, key=lambda name: sizes[name])
        slots[longest] = shortened(slots[longest], sizes[longest] // 2)
        sizes[longest] = min(estimate_tokens(slots[longest]), sizes[longest] - 1)
    return slots


def _heading(line: str) -> str | None:
    """The slot that a line opens: marked as a heading in some way, or with a colon behind it."""
    line = line.strip()
    if not line or len(line) > 80 or not (line[0] in "#*" or line[0].isdigit() or line[-1] == ":"):
        return None
    return _NAMES.get(line.lstrip("#*0123456789.) \t").rstrip(":* \t").casefold())


def _lines(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
