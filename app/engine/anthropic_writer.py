"""Spells a request the way Anthropic's Messages API wants it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from app.engine.messages import Reasoning
from app.engine.outline import Answered, Entry, Line, Returned, Said, WireCall
from app.engine.pictures import Picture, PictureLimits
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.surrogates import clean, has_half, scrub_value

DEFAULT_OUTPUT = 32_000
"""Tokens that an answer may have where nobody says less: the field has to be there, and the largest models take it."""

_THINKING = ("thinking", "redacted_thinking")


class AnthropicWriter:
    """See ``Writer``. Everything is a list of blocks; the results of a step are the beginning of the user's message."""

    own_id = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    pictures = PictureLimits(largest=5 * 1024 * 1024, altogether=20_000_000, most=20)
    """With more than twenty pictures in a request each would have to be much smaller."""

    def write(self, line: Line) -> Entry | None:
        match line:
            case Said():
                return _message("user", [_block(part) for part in line.parts])
            case Answered():
                return _message("assistant", _answer(line))
            case Returned():
                return _message("user", [_result(line)])
            case _:
                assert_never(line)

    def merged(self, first: Entry, second: Entry) -> Entry | None:
        """An answer whose thinking would not stand at its beginning any more goes without it."""
        later = second["content"]
        return {**first, "content": [*first["content"], *_without_thinking(later)]}

    def paired(self, entry: Entry) -> tuple[Sequence[str], Sequence[str]]:
        asked = [block["id"] for block in entry["content"] if block["type"] == "tool_use"]
        return asked, [block["tool_use_id"] for block in entry["content"] if block["type"] == "tool_result"]

    def tool(self, tool: ToolDefinition) -> Entry:
        schema = scrub_value(dict(tool.parameters))
        return {"name": tool.name, "description": clean(tool.description), "input_schema": schema}

    def body(self, request: ModelRequest, system: str, entries: list[Entry], tools: list[Entry]) -> Entry:
        """``model``, ``max_tokens``, ``messages``, and ``system`` and ``tools`` where there are any."""
        body: Entry = {
            "model": request.model,
            "max_tokens": request.room(DEFAULT_OUTPUT),
            "messages": entries,
        }
        if system:
            body["system"] = [_block(system)]
        if tools:
            body["tools"] = tools
            if request.tool_choice == "none":
                body["tool_choice"] = {"type": "none"}
        return body


def _message(role: str, content: list[Entry]) -> Entry | None:
    return {"role": role, "content": content} if content else None


def _block(part: str | Picture) -> Entry:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}


def _result(line: Returned) -> Entry:
    block: Entry = {"type": "tool_result", "tool_use_id": line.call.id, "content": line.text}
    return {**block, "is_error": True} if line.failed else block


def _answer(line: Answered) -> list[Entry]:
    """Thinking stands at the beginning and is followed by something, or it is left out."""
    blocks = [block for part in line.parts if (block := _answer_block(part)) is not None]
    while blocks and blocks[-1]["type"] in _THINKING:
        blocks.pop()
    return blocks if blocks and blocks[0]["type"] in _THINKING else _without_thinking(blocks)


def _answer_block(part: str | Reasoning | WireCall) -> Entry | None:
    match part:
        case str():
            return _block(part)
        case WireCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
        case Reasoning():
            return _thinking(part)
        case _:
            assert_never(part)


def _thinking(block: Reasoning) -> Entry | None:
    """The block as it came. Without its signature, or with a single character changed, it would be refused."""
    data = block.data or {}
    match data.get("type", "thinking"), data.get("data"), data.get("signature", block.signature):
        case "redacted_thinking", str(sealed), _ if sealed and not has_half(sealed):
            return {"type": "redacted_thinking", "data": sealed}
        case "thinking", _, str(signature) if signature and not has_half(signature + block.text):
            return {"type": "thinking", "thinking": block.text, "signature": signature}
        case _:
            return None


def _without_thinking(blocks: list[Entry]) -> list[Entry]:
    return [block for block in blocks if block["type"] not in _THINKING]
