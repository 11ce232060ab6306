"""Spells a request the way OpenAI's Responses API wants it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, assert_never

from app.engine.chat_writer import ChatWriter
from app.engine.messages import Reasoning
from app.engine.outline import Answered, Entry, Line, Returned, Said, WireCall
from app.engine.parts import dump
from app.engine.pictures import Picture
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.surrogates import clean, has_half, scrub_value

LEAST_OUTPUT = 16
"""Tokens; less is refused."""


class ResponsesWriter:
    """See ``Writer``. A request is one flat list of items; an entry holds the items of one line."""

    own_id = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    pictures = ChatWriter.pictures

    def write(self, line: Line) -> Entry | None:
        match line:
            case Said():
                return _entry("user", [_said(line)] if line.parts else [])
            case Answered():
                return _entry("assistant", list(_Answer(line.parts).items()))
            case Returned():
                item = {"type": "function_call_output", "call_id": line.call.id, "output": line.text}
                return _entry("tool", [item])
            case _:
                assert_never(line)

    def merged(self, first: Entry, second: Entry) -> Entry | None:
        """Items stand alone."""
        return None

    def paired(self, entry: Entry) -> tuple[Sequence[str], Sequence[str]]:
        items = entry["content"]
        asked = [item["call_id"] for item in items if item["type"] == "function_call"]
        return asked, [item["call_id"] for item in items if item["type"] == "function_call_output"]

    def tool(self, tool: ToolDefinition) -> Entry:
        """Not ``strict``, which is what is meant where nothing is said, and refuses most schemas."""
        schema = scrub_value(dict(tool.parameters))
        return {
            "type": "function",
            "name": tool.name,
            "description": clean(tool.description),
            "parameters": schema,
            "strict": False,
        }

    def body(self, request: ModelRequest, system: str, entries: list[Entry], tools: list[Entry]) -> Entry:
        """``model``, ``input``, and ``instructions``, ``tools`` and ``max_output_tokens`` where there are any."""
        body: Entry = {
            "model": request.model,
            "input": list(chain.from_iterable(map(itemgetter("content"), entries))),
        }
        if system:
            body["instructions"] = system
        if tools:
            body["tools"] = tools
            if request.tool_choice == "none":
                body["tool_choice"] = "none"
        if (room := request.room()) is not None:
            body["max_output_tokens"] = max(LEAST_OUTPUT, room)
        return body


class _Answer:
    """The items of one answer: calls last, thinking right before what it led to, or it is left out.

    What the server called its items is only said beside all of their thinking: it would ask for the rest.
    """

    def __init__(self, parts: Sequence[str | Reasoning | WireCall]) -> None:
        self._parts = sorted(parts, key=lambda part: isinstance(part, WireCall))
        thought = [part for part in parts if isinstance(part, Reasoning) and not _is_head(part)]
        sealed = [part.data or {} for part in thought if _is_sealed(part)]
        self._named = bool(sealed) and len(sealed) == len(thought)
        led = {id for part in parts if isinstance(part, WireCall) for id in _thought_before(part)}
        self._awaited = {id: item for item in sealed if (id := _id(item)) in led}

    def items(self) -> Iterator[Entry]:
        thinking: list[Entry] = []
        head: Mapping[str, Any] = {}
        for part in self._parts:
            match part:
                case Reasoning():
                    if _is_head(part):
                        head = part.data or {}
                    elif _is_sealed(part) and _id(part.data or {}) not in self._awaited:
                        thinking.append(dict(part.data or {}))
                    continue
                case str():
                    item, head = self._message(part, head), {}
                case WireCall():
                    before = [id for id in _thought_before(part) if id in self._awaited]
                    thinking += [dict(self._awaited.pop(id)) for id in before]
                    item = self._call(part)
                case _:
                    assert_never(part)
            yield from thinking
            yield item
            thinking = []

    def _message(self, text: str, head: Mapping[str, Any]) -> Entry:
        message: Entry = {"type": "message", "role": "assistant"}
        phase = {"phase": head["phase"]} if isinstance(head.get("phase"), str) else {}
        id = _id(head) if self._named else ""
        if not id:
            return {**message, "content": text, **phase}
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {**message, "id": id, "status": "completed", "content": content, **phase}

    def _call(self, call: WireCall) -> Entry:
        arguments = dump(call.arguments)
        item: Entry = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
        id = _id(call.data) if self._named else ""
        return {**item, "id": id} if id else item


def _is_head(part: Reasoning) -> bool:
    """Of the message that follows; it is no thinking."""
    return part.data is not None and part.data.get("type") == "message"


def _is_sealed(part: Reasoning) -> bool:
    """An item of this wire that its server can read again: it keeps nothing itself."""
    data = part.data or {}
    if data.get("type") != "reasoning" or not data.get("encrypted_content"):
        return False
    try:
        return not has_half(dump(data))
    except (TypeError, ValueError):
        return False


def _thought_before(call: WireCall) -> list[str]:
    """The items of thinking that came right before the call, which may stand behind others in the history."""
    before = call.data.get("after")
    return [id for id in before if isinstance(id, str)] if isinstance(before, list) else []


def _id(item: Mapping[str, Any]) -> str:
    id = item.get("id")
    return id if isinstance(id, str) and not has_half(id) else ""


def _entry(role: str, items: list[Entry]) -> Entry | None:
    return {"role": role, "content": items} if items else None


def _said(line: Said) -> Entry:
    return {"type": "message", "role": "user", "content": [_part(part) for part in line.parts]}


def _part(part: str | Picture) -> Entry:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    url = f"data:{part.media_type};base64,{part.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}
