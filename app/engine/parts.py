"""Blocks of the canonical history as parts of a chat-completions message. Pure, one block at a time."""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, assert_never

from app.engine.messages import Block, Image, Marker, Message, Reasoning, Text, ToolCall, ToolResult
from app.engine.surrogates import scrub, scrub_value

Entry = dict[str, Any]
"""One message as the wire has it."""

MARKERS = {
    "stopped_by_user": "[The user stopped this turn here.]",
    "interrupted": "[This answer was cut off here.]",
}
NO_OUTPUT = "(no output)"
NO_PICTURE = "[A picture stood here that cannot be shown.]"

MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANY_ID = re.compile(r"[!-~]{1,256}")
_SAFE_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")


def clean(text: str) -> str:
    """Without what some server refuses in a string: halves of characters and NUL."""
    text = scrub(text)
    return text.replace("\0", "\ufffd") if "\0" in text else text


def user_content(message: Message) -> str | list[Entry]:
    """A string, or parts where there are pictures. Empty where nothing is left to send."""
    if not any(isinstance(block, Image) for block in message.blocks):
        return plain_text(message.blocks)
    parts = (_part(block) for block in message.blocks)
    return [part for part in parts if part is not None]


def plain_text(blocks: Iterable[Block]) -> str:
    """Text and markers; pictures are only mentioned."""
    text = ""
    for block in blocks:
        words = _words(block)
        text += f"\n\n{words}" if text and isinstance(block, Marker) else words
    return clean(text) if text.strip() else ""


def wire_call(call: ToolCall, id: str) -> Entry:
    """A call as it was made; one that could not be read has no arguments, its result says why."""
    return {
        "id": id,
        "type": "function",
        "function": {"name": wire_name(call.name), "arguments": _arguments(call)},
    }


def _arguments(call: ToolCall) -> str:
    try:
        return json.dumps(
            scrub_value(dict(call.arguments)), ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
    except ValueError:
        return "{}"


def wire_name(name: str) -> str:
    """A name every server takes; a model that called something else sees its own word as nearly as possible."""
    if _NAME.fullmatch(name):
        return name
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def is_tool_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def wire_id(call: ToolCall, message_id: str, *, own: bool, taken: Collection[str]) -> str:
    """The call's own id where the server takes it and no earlier call has it, else one made from it.

    A server's own ids are replayed as they came, some carry meaning.
    """
    if (_ANY_ID if own else _SAFE_ID).fullmatch(call.id) and call.id not in taken:
        return call.id
    made = call.id
    while made == call.id or made in taken:
        made = "call_" + hashlib.sha256(f"{message_id}\n{made}".encode("utf-8", "replace")).hexdigest()[:24]
    return made


def result_text(result: ToolResult) -> str:
    return clean(result.text) if result.text.strip() else NO_OUTPUT


def told_call(call: ToolCall) -> str:
    """A call of a tool that is not there any more, told in words."""
    return f"[Called {wire_name(call.name)} with {_arguments(call)}]"


def told_result(name: str, result: ToolResult) -> str:
    return f"[Result of {wire_name(name)}]\n{result_text(result)}"


def reasoning_fields(message: Message, accepted: Collection[str]) -> Entry:
    """The thinking of a message in the form in which its own server sent it, as its ``data`` says.

    ``{"field": NAME}`` stands for the text under that name; any other key is a field as it came.
    """
    fields: Entry = {}
    for block in message.blocks:
        if isinstance(block, Reasoning) and block.data is not None:
            name = block.data.get("field")
            if isinstance(name, str) and name in accepted and block.text:
                fields[name] = fields.get(name, "") + clean(block.text)
            fields.update({key: value for key, value in block.data.items() if key in accepted})
    return fields


def merged(first: Entry, second: Entry) -> Entry:
    """Two messages of one role as one."""
    both = {**first, **second}
    both["content"] = _joined(first["content"], second["content"])
    return both


def _joined(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_as_parts(first), *_as_parts(second)]


def _as_parts(content: str | list[Entry]) -> list[Entry]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _part(block: Block) -> Entry | None:
    if isinstance(block, Image) and _is_sendable(block):
        return {"type": "image_url", "image_url": {"url": f"data:{block.media_type};base64,{block.data}"}}
    words = _words(block)
    return {"type": "text", "text": clean(words)} if words.strip() else None


def _is_sendable(image: Image) -> bool:
    if not image.data or image.media_type not in MEDIA_TYPES:
        return False
    try:
        return bool(binascii.a2b_base64(image.data, strict_mode=True))
    except ValueError:
        return False


def _words(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case Marker():
            return MARKERS[block.marker]
        case Image():
            return NO_PICTURE
        case Reasoning() | ToolCall() | ToolResult():
            return ""
        case _:
            assert_never(block)


def described(schema: Mapping[str, Any]) -> bool:
    """Whether a tool's parameters are what every server wants: a schema of type object."""
    return schema.get("type") == "object" and isinstance(schema.get("properties", {}), Mapping)
