"""The walk through a history that lays it out by the rule of ``pairing``; ``pairing`` is its only caller."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from app.engine.messages import Block, Image, Message, Reasoning, ResultStatus, Text, ToolCall, ToolResult

LOOKING_TOOLS = frozenset(
    {
        *("read_file", "list_files", "stat_file", "search_files", "grep_files"),
        *("read_result", "search_result", "job_read", "web_fetch", "web_search"),
        *("knowledge_search", "knowledge_read", "knowledge_list", "list_connector_tools"),
    }
)

Mutating = Callable[[str], bool]
"""Says of a tool's name whether its calls may change something."""


def is_mutating(name: str) -> bool:
    """Of a tool that we do not know to be harmless, yes."""
    return name not in LOOKING_TOOLS


INTERRUPTED = "Interrupted: this call did not run to its end and has no result."
OUTCOME_UNKNOWN = (
    "Outcome unknown: this call was begun and its end was not seen. It may have changed something. "
    "Check the present state before deciding whether to do it again."
)

_STRENGTH: dict[ResultStatus, int] = {"interrupted": 0, "outcome_unknown": 1, "error": 2, "ok": 2}


class Healed(NamedTuple):
    """A paired history, and what of it was made up and may be stored at its end, where it finds its call again."""

    messages: tuple[Message, ...]
    added: tuple[Message, ...]


@dataclass(slots=True)
class _Slot:
    """A call and the best result found for it. ``asked`` is the id it came with."""

    call: ToolCall
    asked: str
    result: Message | None = None

    @property
    def strength(self) -> int:
        return -1 if self.result is None else _STRENGTH[self.result.results[0].status]


@dataclass(slots=True)
class _Step:
    """An assistant message with calls, and what belongs right behind it."""

    message: Message
    slots: list[_Slot] = field(default_factory=list)
    images: list[Message] = field(default_factory=list)

    def declare(self, call: ToolCall, taken: Collection[str]) -> ToolCall:
        """Open a slot. A call without an id of its own within the message gets one."""
        own = call
        if not call.id or any(slot.call.id == call.id for slot in self.slots):
            declared = (other.id for other in self.message.calls)
            own = replace(call, id=_fresh(call.id or "call", {*taken, *declared}))
        self.slots.append(_Slot(own, call.id))
        return own

    def answer(self, result: ToolResult, message: Message) -> None:
        """Take the result if its call has none, or only a weaker one."""
        slots = (slot for slot in self.slots if result.call_id in (slot.call.id, slot.asked))
        slot = min(slots, key=lambda slot: slot.strength)
        if _STRENGTH[result.status] <= slot.strength:
            return
        if result.call_id != slot.call.id:
            message = replace(message, blocks=(replace(result, call_id=slot.call.id),))
        slot.result = message

    def missing(self, slot: _Slot, number: int, started: Collection[str], mutating: Mutating) -> Message:
        begun = slot.call.id in started or slot.asked in started
        block = without_outcome(slot.call, begun and mutating(slot.call.name))
        return Message("tool", (block,), f"{self.message.id}-s{number}", self.message.time)

    def picture(self) -> Iterator[Message]:
        if self.images:
            blocks = tuple(block for message in self.images for block in message.blocks)
            yield replace(self.images[0], blocks=blocks)


class Weave:
    """Takes a history message by message and lays it out by the rule."""

    def __init__(self) -> None:
        self._pieces: list[Message | _Step] = []
        self._nearest: dict[str, _Step] = {}

    def add(self, message: Message) -> None:
        step = _Step(message)
        owner: _Step | None = None
        kept: list[Block] = []
        for number, block in enumerate(message.blocks, 1):
            match block:
                case ToolResult():
                    owner = self._answer(block, message, number) or owner
                case ToolCall():
                    if message.role == "assistant":
                        kept.append(self._declare(step, block))
                case _:
                    if not is_blank(block):
                        kept.append(block)
        rest = _rest(message, tuple(kept))
        if rest is not None:
            self._place(rest, step, owner)

    def _answer(self, result: ToolResult, message: Message, number: int) -> _Step | None:
        nearest = self._nearest.get(result.call_id)
        if nearest is not None:
            nearest.answer(result, _own_message(message, result, number))
        return nearest

    def _declare(self, step: _Step, call: ToolCall) -> ToolCall:
        own = step.declare(call, self._nearest)
        self._nearest[call.id] = self._nearest[own.id] = step
        return own

    def _place(self, rest: Message, step: _Step, owner: _Step | None) -> None:
        if step.slots:
            step.message = rest
            self._pieces.append(step)
        elif owner is not None and all(isinstance(block, Image) for block in rest.blocks):
            owner.images.append(rest)
        else:
            self._pieces.append(rest)

    def finish(self, started: Collection[str], mutating: Mutating, open_end: bool) -> Healed:
        messages: list[Message] = []
        added: list[Message] = []
        still_open = self._last_step() if open_end else None
        for piece in self._pieces:
            if isinstance(piece, Message):
                messages.append(piece)
                continue
            messages.append(piece.message)
            for number, slot in enumerate(piece.slots, 1):
                if slot.result is not None:
                    messages.append(slot.result)
                elif piece is not still_open:
                    messages.append(piece.missing(slot, number, started, mutating))
                    if self._nearest[slot.call.id] is piece:
                        added.append(messages[-1])
            messages.extend(piece.picture())
        return Healed(tuple(messages), tuple(added))

    def _last_step(self) -> _Step | None:
        for piece in reversed(self._pieces):
            if isinstance(piece, _Step):
                return piece
            if piece.role == "assistant":
                return None
        return None


def _rest(message: Message, kept: tuple[Block, ...]) -> Message | None:
    """The message without what was taken out of it; None where nothing worth sending is left."""
    if all(isinstance(block, Reasoning) for block in kept):
        return None
    role = "user" if message.role == "tool" else message.role
    unchanged = role == message.role and kept == message.blocks
    return message if unchanged else replace(message, role=role, blocks=kept)


def _own_message(message: Message, result: ToolResult, number: int) -> Message:
    """The result as a message of its own."""
    if message.role == "tool" and len(message.blocks) == 1:
        return message
    return Message("tool", (result,), f"{message.id}-r{number}", message.time)


def without_outcome(call: ToolCall, unknown: bool) -> ToolResult:
    if unknown:
        return ToolResult(call.id, OUTCOME_UNKNOWN, "outcome_unknown")
    return ToolResult(call.id, INTERRUPTED, "interrupted")


def is_blank(block: Block) -> bool:
    return isinstance(block, Text) and (not block.text or block.text.isspace())


def _fresh(name: str, taken: Collection[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
