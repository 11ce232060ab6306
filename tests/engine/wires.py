"""What the tests of the compiler share: short ways to write histories, and each wire with its strict reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.engine.anthropic_writer import AnthropicWriter
from app.engine.chat_writer import ChatWriter
from app.engine.compiler import Compiler
from app.engine.ladder import NOTHING, Left
from app.engine.messages import Message, Origin, Text
from app.engine.ollama_writer import OllamaWriter
from app.engine.outline import Writer
from app.engine.pictures import LoadImage, load_nothing
from app.engine.provider import ModelRequest, ToolDefinition
from app.engine.responses_writer import ResponsesWriter
from tests.fakes import strict_anthropic, strict_chat, strict_ollama, strict_responses

NOON = "2026-11-30T12:00:00.000Z"
HERE = Origin("local", "model-a", "http://127.0.0.1/v1")

Body = dict[str, Any]


@dataclass(frozen=True)
class Wire:
    """A writer, and the strict server that it is held against."""

    name: str
    writer: Callable[[], Writer]
    refusal: Callable[[bytes], str | None]

    def compiler(self, origin: Origin | None = HERE, load_image: LoadImage = load_nothing) -> Compiler:
        return Compiler(self.writer(), origin, load_image)

    def compiled(self, request: ModelRequest, left: Left = NOTHING, **rest: Any) -> Body:
        """The body by a compiler that never saw the history before, looked at by the strict server."""
        return self.looked_at(self.compiler(**rest).compile(request, left))

    def looked_at(self, body: Body) -> Body:
        assert self.refusal(json.dumps(body).encode()) is None
        return body

    def __str__(self) -> str:
        return self.name


CHAT = Wire("chat", lambda: ChatWriter(("reasoning_content", "reasoning_details")), strict_chat.refusal)
ANTHROPIC = Wire("anthropic", AnthropicWriter, strict_anthropic.refusal)
OLLAMA = Wire("ollama", OllamaWriter, strict_ollama.refusal)
RESPONSES = Wire("responses", ResponsesWriter, strict_responses.refusal)
WIRES = (CHAT, RESPONSES, ANTHROPIC, OLLAMA)


def tools(*names: str) -> tuple[ToolDefinition, ...]:
    return tuple(
        ToolDefinition(name, f"Does {name}.", {"type": "object", "properties": {}}) for name in names
    )


def history(*messages: tuple[Any, ...], origin: Origin | None = None) -> tuple[Message, ...]:
    """Each message as role and blocks; a plain string is text."""
    return tuple(
        Message(role, tuple(Text(b) if isinstance(b, str) else b for b in blocks), f"m{number}", NOON, origin)
        for number, (role, *blocks) in enumerate(messages)
    )


def request(messages: tuple[Message, ...], **fields: Any) -> ModelRequest:
    base = {"model": "model-a", "system": "Be brief.", "tools": tools("read_file")}
    return ModelRequest(**{**base, **fields, "messages": messages})


def messages_of(body: Body) -> list[Body]:
    """In whatever spelling; an item that is no message has no role."""
    found: list[Body] = body["messages"] if "messages" in body else body["input"]
    return found


def entries_of(body: Body) -> list[Body]:
    """What a writer wrote: of items, the calls of one answer are one."""
    if "messages" in body:
        return messages_of(body)
    runs = groupby(enumerate(body["input"]), lambda one: one[0] if one[1]["type"] != "function_call" else -1)
    return [{"role": "any", "content": [item for _, item in run]} for _, run in runs]


def call_ids(body: Body) -> list[str]:
    """In whatever spelling."""
    if "input" in body:
        return [item["call_id"] for item in body["input"] if item["type"] == "function_call"]
    blocks = [b for m in body["messages"] for b in m["content"] or () if isinstance(b, dict)]
    calls = [c for m in body["messages"] for c in m.get("tool_calls", ())]
    return [call["id"] for call in (*calls, *(b for b in blocks if b["type"] == "tool_use"))]


def spoken(body: Body) -> list[tuple[str, str]]:
    """Role and plain text of each message that has any; items of one role that stand together are one."""
    found = []
    for message in messages_of(body):
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "\n\n".join(block["text"] for block in content if block["type"].endswith("text"))
        if "input" in body and content and found and found[-1][0] == message["role"]:
            content = f"{found.pop()[1]}\n\n{content}"
        found += [(message["role"], content)] if content else []
    return found


def is_beginning(before: list[Body], after: list[Body]) -> bool:
    """Whether a cache that holds the first list serves the second one; the last message may have grown."""
    if not before:
        return True
    *same, last = before
    if len(after) < len(before) or after[: len(same)] != same:
        return False
    grown = after[len(same)]
    others = {name: value for name, value in last.items() if name not in ("content", "thinking", "images")}
    return others.items() <= grown.items() and _begins(last.get("content"), grown.get("content"))


def _begins(content: Any, grown: Any) -> bool:
    if isinstance(content, str) and isinstance(grown, str):
        return grown.startswith(content)
    before, after = _parts(content), _parts(grown)
    return after[: len(before)] == before


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []
