"""A history as plain text for the model that summarises it: whatever is in the history, the text can be sent.

Pictures are mentioned, thinking is left out, long results show their beginning and end. The text fits a budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from app.engine.large_results import beginning, ending
from app.engine.messages import Block, Image, Marker, Message, Reasoning, Text, ToolCall, ToolResult
from app.engine.surrogates import clean
from app.engine.tokens import estimate_tokens

DETAIL = (1_000, 250, 60)
"""Tokens of one result or of the arguments of one call, from the fullest text to the barest."""

WORDS_SHARE = 4
"""What was said may be as many times as long."""

_RULE = re.compile(r"^(?==== )", re.MULTILINE)


def project(messages: Sequence[Message], budget: int) -> str:
    """The messages as text of at most ``budget`` tokens, by our estimate. Never raises."""
    text = ""
    for most in DETAIL:
        text = "\n\n".join(_sections(messages, most))
        if estimate_tokens(text) <= budget:
            return text
    return shortened(text, budget)


def shortened(text: str, tokens: int) -> str:
    """The text, or its beginning and end with what was left out said between: about so many tokens at most."""
    if estimate_tokens(text) <= tokens:
        return text
    room = max(tokens - 16, 0)
    head, tail = beginning(text, room * 2 // 3), ending(text, room // 3)
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out …]\n{tail}"


def _sections(messages: Sequence[Message], most: int) -> Iterator[str]:
    names: dict[str, str] = {}
    for message in messages:
        names.update((call.id, call.name) for call in message.calls)
        # Of an earlier summary only the summary itself: what is told beside it is gathered anew each time.
        blocks = message.blocks if message.summary is None else message.blocks[:1]
        parts = [part for block in blocks if (part := _part(block, names, most))]
        if parts:
            # A line of ours in somebody's text would pass for the beginning of another message.
            told = _RULE.sub(" ", clean("\n".join(parts)))
            yield f"=== {_whose(message)} ===\n{told}"


def _whose(message: Message) -> str:
    return "earlier summary" if message.summary is not None else message.role


def _part(block: Block, names: Mapping[str, str], most: int) -> str:
    match block:
        case Text():
            return shortened(block.text, most * WORDS_SHARE)
        case ToolCall():
            return f"[called {block.name} with {shortened(written(block), most)}]"
        case ToolResult():
            told = shortened(block.text, most) or "(no output)"
            return f"[result of {names.get(block.call_id, 'a call')}, {block.status}]\n{told}"
        case Image():
            return "[image]"
        case Marker():
            return "[this turn ended early here]"
        case Reasoning():
            return ""
        case _:
            assert_never(block)


def written(call: ToolCall) -> str:
    """The arguments of a call as text, whatever they are."""
    arguments: Mapping[str, Any] | str = call.arguments if call.raw is None else call.raw
    try:
        return (
            arguments
            if isinstance(arguments, str)
            else json.dumps(arguments, ensure_ascii=False, default=repr)
        )
    except (ValueError, TypeError, RecursionError):
        return "(unreadable arguments)"
