"""Token estimate, for the calls whose provider does not count."""

from __future__ import annotations

import json

from app.engine.messages import Reasoning, Text, ToolCall, ToolResult
from app.engine.provider import ModelRequest


def estimate_tokens(text: str) -> int:
    """A rough count: four bytes of UTF-8 a token, at least one for any text."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimate_request(request: ModelRequest) -> int:
    """All that a request carries: system prompt, tool definitions, every text block of the history."""
    tools = sum(estimate_tokens(tool.description + json.dumps(tool.parameters)) for tool in request.tools)
    history = sum(estimate_tokens(_text(block)) for message in request.messages for block in message.blocks)
    return estimate_tokens(request.system) + tools + history


def _text(block: object) -> str:
    match block:
        case Text(text=text) | Reasoning(text=text) | ToolResult(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return name + json.dumps(arguments, default=str)
        case _:
            return ""
