"""Blocks of the canonical history in the words, ids and names that every server takes. Pure, one block at a time."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from app.engine.assembly import is_deep
from app.engine.messages import Block, Marker, Text, ToolCall, ToolResult
from app.engine.surrogates import clean, each_text, has_half

MARKERS = {
    "stopped_by_user": "[The user stopped this turn here.]",
    "interrupted": "[This answer was cut off here.]",
}
NO_OUTPUT = "(no output)"

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SAFE_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""Ids that every server takes."""


def plain_text(blocks: Iterable[Block]) -> str:
    """Text and markers; empty where there is nothing to read."""
    text = ""
    for block in blocks:
        if isinstance(block, Text):
            text += block.text
        elif isinstance(block, Marker):
            text += f"\n\n{MARKERS[block.marker]}" if text else MARKERS[block.marker]
    return clean(text) if text.strip() else ""


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """As they were called; none where no server would read them. The result of such a call says why."""
    given = dict(call.arguments)
    if is_deep(given):
        return {}
    try:
        written = dump(given)
    except (TypeError, ValueError):
        return {}
    # Nearly all are clean, and a walk through large ones takes seconds.
    cleaned: dict[str, Any] = each_text(given, clean) if "\\u0000" in written or has_half(written) else given
    return cleaned


def dump(value: Any) -> str:
    """Raises ``TypeError`` or ``ValueError`` for what is no JSON."""
    return _encoder.encode(value)


def wire_name(name: str) -> str:
    """A name every server takes; a model that called something else sees its own word as nearly as possible."""
    if _NAME.fullmatch(name):
        return name
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def is_tool_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def wire_id(call: ToolCall, message_id: str, taken: Collection[str], accepted: re.Pattern[str]) -> str:
    """The call's own id where it is accepted and no earlier call has it, else one made from it."""
    if accepted.fullmatch(call.id) and call.id not in taken:
        return call.id
    made = call.id
    while made == call.id or made in taken:
        made = "call_" + hashlib.sha256(f"{message_id}\n{made}".encode("utf-8", "replace")).hexdigest()[:24]
    return made


def result_text(result: ToolResult) -> str:
    return clean(result.text) if result.text.strip() else NO_OUTPUT


def told_call(call: ToolCall) -> str:
    """A call of a tool that is not there any more, told in words."""
    return f"[Called {wire_name(call.name)} with {dump(arguments_of(call))}]"


def told_result(name: str, result: ToolResult) -> str:
    return f"[Result of {wire_name(name)}]\n{result_text(result)}"


def described(schema: Mapping[str, Any]) -> bool:
    """Whether a tool's parameters are what every server wants: a schema of type object."""
    return schema.get("type") == "object" and isinstance(schema.get("properties", {}), Mapping)
