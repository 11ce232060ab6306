"""What a compaction took out of a model's view, as a reader is shown it: plain text, cut, one item a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from app.engine.messages import Block, Image, Marker, Message, Reasoning, Text, ToolCall, ToolResult
from app.web.times import local
from app.web.tool_words import Shown, cut, target_of, words_for

LINES_SHOWN = 30
CHARACTERS_SHOWN = 2_000
"""Of one message; the chat has all of it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One message that the model does not see any more."""

    label: str
    time: datetime
    shown: Shown


def left_out(
    messages: Sequence[Message], label: str, start: int, count: int, asker: str = "You"
) -> tuple[LeftOut, ...]:
    """The items of ``count`` messages from ``start`` on, in order; ``label`` is what its member is called.

    ``asker`` is who speaks to it.
    """
    tools = {call.id: call.name for message in messages for call in message.calls}
    return tuple(_item(message, label, asker, tools) for message in messages[start : start + count])


def _item(message: Message, label: str, asker: str, tools: dict[str, str]) -> LeftOut:
    text = "\n\n".join(said for block in message.blocks if (said := _said(block)))
    return LeftOut(
        _label(message, label, asker, tools), local(message.time), cut(text, LINES_SHOWN, CHARACTERS_SHOWN)
    )


def _label(message: Message, label: str, asker: str, tools: dict[str, str]) -> str:
    if message.summary is not None:
        return "Earlier summary"
    match message.role:
        case "assistant":
            return label
        case "tool":
            return "Result of " + ", ".join(_names(message, tools))
        case "user":
            pictures = all(isinstance(block, Image) for block in message.blocks)
            return "Shown to the model" if pictures else asker
        case _:
            assert_never(message.role)


def _names(message: Message, tools: dict[str, str]) -> Iterator[str]:
    for result in message.results:
        yield words_for(tools.get(result.call_id, "")).verb


def _said(block: Block) -> str:
    match block:
        case Text(text=text) | ToolResult(text=text):
            return text
        case ToolCall():
            return f"→ {words_for(block.name).verb} {target_of(block.name, block.arguments)}".rstrip()
        case Image():
            return "A picture"
        case Reasoning() | Marker():
            return ""
        case _:
            assert_never(block)
