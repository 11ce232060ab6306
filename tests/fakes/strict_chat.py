"""The strictest reading of a chat-completions request: what any of the stricter servers refuses is refused here."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.strict import (
    NAME,
    Refused,
    check_fields,
    check_functions,
    check_image,
    check_pairing,
    check_roles,
    check_text,
    parse,
    refusal_by,
    require,
)

TOP_LEVEL = {"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options"}
TOP_LEVEL |= {
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "seed",
    "response_format",
}
TOP_LEVEL |= {"reasoning_effort", "prompt_cache_key", "user"}
FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details"},
    "tool": {"role", "content", "tool_call_id"},
}
ID = re.compile(r"[a-zA-Z0-9_.:-]{1,40}")


def refusal(raw: bytes) -> str | None:
    return refusal_by(_check_body, raw)


def _check_body(body: Any) -> None:
    check_fields(body, TOP_LEVEL, "the body")
    require(isinstance(body.get("model"), str) and body["model"] != "", "model must be a name")
    require(isinstance(body.get("stream", False), bool), "stream must be true or false")
    require("stream_options" not in body or body.get("stream") is True, "stream_options is only for streams")
    require(len(body.get("prompt_cache_key", "")) <= 64, "prompt_cache_key: string too long, at most 64")
    for key in ("max_tokens", "max_completion_tokens"):
        require(
            key not in body or (isinstance(body[key], int) and body[key] > 0), f"{key} must be above zero"
        )
    if "tools" in body:
        check_functions(body["tools"])
    messages = body.get("messages")
    require(isinstance(messages, list) and messages != [], "messages must be a list that is not empty")
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]")
    check_roles(messages)
    check_pairing(messages)
    require("tools" in body or not any("tool_calls" in one for one in messages), "tool calls without tools")


def _check_message(message: Any, where: str) -> None:
    require(isinstance(message, dict), f"{where} must be an object")
    role = message.get("role")
    require(role in FIELDS, f"{where}.role {role!r} is unknown")
    check_fields(message, FIELDS[role], where)
    require("content" in message, f"{where} has no content")
    content = message["content"]
    if content is None:
        require("tool_calls" in message, f"{where}.content may be null only beside tool_calls")
    elif isinstance(content, list):
        require(role == "user", f"{where}.content may have parts only in a user message")
        _check_parts(content, where)
    else:
        check_text(content, f"{where}.content")
    if role == "tool":
        require(isinstance(message.get("tool_call_id"), str), f"{where} has no tool_call_id")
    if "tool_calls" in message:
        _check_calls(message["tool_calls"], where)


def _check_parts(parts: list[Any], where: str) -> None:
    require(parts != [], f"{where}.content has no parts")
    for part in parts:
        match part:
            case {"type": "text", "text": str(text), **rest} if not rest:
                require(text.strip() != "", f"{where}.content has an empty text part")
            case {"type": "image_url", "image_url": {"url": str(url)}, **rest} if not rest:
                found = re.fullmatch(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/]+={0,2})", url)
                require(found is not None, f"{where}.content has an image that is no data URL")
                check_image(found[2], f"{where}.content", {found[1]})
            case _:
                raise Refused(f"{where}.content has a part of an unknown type")


def _check_calls(calls: Any, where: str) -> None:
    require(isinstance(calls, list) and calls != [], f"{where}.tool_calls must be a list that is not empty")
    for call in calls:
        match call:
            case {"id": str(id), "type": "function", "function": {"name": str(name), "arguments": str(text)}}:
                require(ID.fullmatch(id) is not None, f"{where}.tool_calls: the id {id!r} is not valid")
                require(
                    NAME.fullmatch(name) is not None, f"{where}.tool_calls: the name {name!r} is not valid"
                )
                _check_arguments(text, where)
            case _:
                raise Refused(
                    f"{where}.tool_calls has a call without id, type, name or arguments as a string"
                )


def _check_arguments(text: str, where: str) -> None:
    try:
        value = parse(text.encode())
    except (Refused, UnicodeEncodeError) as error:
        raise Refused(f"{where}.tool_calls: the arguments are not JSON: {error}") from None
    require(isinstance(value, dict), f"{where}.tool_calls: the arguments must be an object")
