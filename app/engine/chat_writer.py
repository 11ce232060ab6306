"""Spells a request the way OpenAI's chat completions want it, and the many servers that speak like them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, assert_never

from app.engine.messages import Reasoning
from app.engine.outline import Answered, Entry, Line, Returned, Said, WireCall
from app.engine.parts import dump
from app.engine.pictures import Picture, PictureLimits
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.surrogates import clean, scrub_value

ADDED = frozenset({"extra_content", "provider_specific_fields"})
"""Fields that servers add to a call and want back with it."""


class ChatWriter:
    """See ``Writer``. The system prompt is the first message, each result a message of its own."""

    own_id = re.compile(r"[!-~]{1,256}")
    pictures = PictureLimits(largest=20_000_000, altogether=40_000_000, most=50)

    def __init__(self, reasoning: Collection[str] = (), unsigned: Mapping[str, Any] | None = None) -> None:
        """``reasoning`` names the fields in which this server takes its own thinking back.

        ``unsigned`` is added to the first call of an answer that has no signature, where the server wants one.
        """
        self._reasoning = reasoning
        self._unsigned = unsigned or {}

    def write(self, line: Line) -> Entry | None:
        match line:
            case Said():
                return {"role": "user", "content": _content(line.parts)} if line.parts else None
            case Answered():
                return self._answer(line)
            case Returned():
                return {"role": "tool", "tool_call_id": line.call.id, "content": line.text}
            case _:
                assert_never(line)

    def _answer(self, line: Answered) -> Entry | None:
        text = "\n\n".join(part for part in line.parts if isinstance(part, str))
        calls = [_call(part) for part in line.parts if isinstance(part, WireCall)]
        if calls and not calls[0].keys() & ADDED:
            calls[0] |= self._unsigned
        if not text and not calls:
            return None
        thinking = self._thinking(part for part in line.parts if isinstance(part, Reasoning))
        entry: Entry = {"role": "assistant", "content": text or None}
        return {**entry, **({"tool_calls": calls} if calls else {}), **thinking}

    def _thinking(self, blocks: Iterable[Reasoning]) -> Entry:
        """What a block brings along are only fields that this wire knows."""
        fields: Entry = {}
        for block in blocks:
            data = block.data or {}
            name = data.get("field")
            if isinstance(name, str) and name in self._reasoning and block.text:
                fields[name] = fields.get(name, "") + clean(block.text)
            fields.update({key: value for key, value in data.items() if key in self._reasoning})
        return fields

    def merged(self, first: Entry, second: Entry) -> Entry | None:
        if first["role"] == "tool" or "tool_calls" in first:
            return None
        return {**first, **second, "content": _joined(first["content"], second["content"])}

    def paired(self, entry: Entry) -> tuple[Sequence[str], Sequence[str]]:
        return paired_by_message(entry)

    def tool(self, tool: ToolDefinition) -> Entry:
        return function_tool(tool)

    def body(self, request: ModelRequest, system: str, entries: list[Entry], tools: list[Entry]) -> Entry:
        """``model``, ``messages``, and ``tools`` and ``max_tokens`` where asked for."""
        head: list[Entry] = [{"role": "system", "content": system}] if system else []
        body: Entry = {"model": request.model, "messages": [*head, *entries]}
        if tools:
            body["tools"] = tools
            if request.tool_choice == "none":
                body["tool_choice"] = "none"
        if (room := request.room()) is not None:
            body["max_tokens"] = room
        return body


def function_tool(tool: ToolDefinition) -> Entry:
    function: Entry = {"name": tool.name, "description": clean(tool.description)}
    return {"type": "function", "function": {**function, "parameters": scrub_value(dict(tool.parameters))}}


def paired_by_message(entry: Entry) -> tuple[Sequence[str], Sequence[str]]:
    """See ``Writer.paired``, for wires on which each result is a message of role ``tool``."""
    answered = [entry["tool_call_id"]] if entry["role"] == "tool" else []
    return [call["id"] for call in entry.get("tool_calls", ())], answered


def _content(parts: Sequence[str | Picture]) -> str | list[Entry]:
    """Words alone are a string: servers without eyes know nothing else."""
    words = [part for part in parts if isinstance(part, str)]
    return "\n\n".join(words) if len(words) == len(parts) else [_part(part) for part in parts]


def _part(part: str | Picture) -> Entry:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}


def _call(call: WireCall) -> Entry:
    function = {"name": call.name, "arguments": dump(call.arguments)}
    added = {name: scrub_value(value) for name, value in call.data.items() if name in ADDED}
    return {"id": call.id, "type": "function", "function": function, **added}


def _joined(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_as_parts(first), *_as_parts(second)]


def _as_parts(content: str | list[Entry]) -> list[Entry]:
    return [_part(content)] if isinstance(content, str) else content
