"""Spells a request the way Ollama's own chat wants it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from app.engine.chat_writer import function_tool, paired_by_message
from app.engine.messages import Reasoning
from app.engine.outline import Answered, Entry, Line, Returned, Said, WireCall
from app.engine.pictures import Picture, PictureLimits
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.surrogates import clean


class OllamaWriter:
    """See ``Writer``. Content is text only, pictures stand beside it; arguments are objects; results name a tool."""

    own_id = re.compile(r"[!-~]{1,256}")
    pictures = PictureLimits(
        largest=20_000_000,
        altogether=40_000_000,
        most=10,
        media_types=frozenset({"image/png", "image/jpeg", "image/webp"}),
    )

    def write(self, line: Line) -> Entry | None:
        match line:
            case Said():
                return _said(line)
            case Answered():
                return _answer(line)
            case Returned(call, text):
                return {"role": "tool", "content": text, "tool_name": call.name, "tool_call_id": call.id}
            case _:
                assert_never(line)

    def merged(self, first: Entry, second: Entry) -> Entry | None:
        if first["role"] == "tool" or "tool_calls" in first:
            return None
        both = {**first, **second, "content": _joined(first["content"], second["content"])}
        if "thinking" in first and "thinking" in second:
            both["thinking"] = _joined(first["thinking"], second["thinking"])
        if "images" in first and "images" in second:
            both["images"] = [*first["images"], *second["images"]]
        return both

    def paired(self, entry: Entry) -> tuple[Sequence[str], Sequence[str]]:
        return paired_by_message(entry)

    def tool(self, tool: ToolDefinition) -> Entry:
        return function_tool(tool)

    def body(self, request: ModelRequest, system: str, entries: list[Entry], tools: list[Entry]) -> Entry:
        """``model``, ``messages``, and ``tools`` and ``options`` where there are any."""
        head: list[Entry] = [{"role": "system", "content": system}] if system else []
        body: Entry = {"model": request.model, "messages": [*head, *entries]}
        if tools:  # and no word that none may be called: this wire has none
            body["tools"] = tools
        if (room := request.room()) is not None:
            body["options"] = {"num_predict": room}
        return body


def _said(line: Said) -> Entry | None:
    if not line.parts:
        return None
    images = [part.data for part in line.parts if isinstance(part, Picture)]
    entry: Entry = {"role": "user", "content": _words(line.parts)}
    return {**entry, "images": images} if images else entry


def _answer(line: Answered) -> Entry | None:
    text = _words(line.parts)
    calls = [_call(part) for part in line.parts if isinstance(part, WireCall)]
    thinking = clean("".join(part.text for part in line.parts if isinstance(part, Reasoning)))
    if not text and not calls:
        return None
    entry: Entry = {"role": "assistant", "content": text}
    return {
        **entry,
        **({"thinking": thinking} if thinking.strip() else {}),
        **({"tool_calls": calls} if calls else {}),
    }


def _call(call: WireCall) -> Entry:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}


def _words(parts: Sequence[object]) -> str:
    return "\n\n".join(part for part in parts if isinstance(part, str))


def _joined(first: str, second: str) -> str:
    return f"{first}\n\n{second}" if first and second else first or second
