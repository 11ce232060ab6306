"""The strictest reading of a chat-completions request: what any of the stricter servers refuses is refused here.

``refusal`` says why a body is not acceptable, in one sentence, or None. The compiler's tests and the fake server
share it, so that "it compiles" means "every server takes it".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

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
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_.:-]{1,40}")
SCHEMA_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


class Refused(Exception):
    """Why the request is not acceptable."""


def refusal(raw: bytes) -> str | None:
    """One sentence about the first thing wrong with this request body; None when all is well."""
    try:
        _check_body(parse(raw))
    except Refused as reason:
        return str(reason)
    return None


def parse(raw: bytes) -> Any:
    """JSON as strict servers read it: UTF-8, no repeated keys, no NaN, no halves of surrogate pairs."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except ValueError as error:
        raise Refused(f"the request body is not valid JSON: {error}") from None
    for text in _strings(value):
        _require(
            not any("\ud800" <= char <= "\udfff" for char in text), "the request body has a lone surrogate"
        )
    return value


def _check_body(body: Any) -> None:
    _require(isinstance(body, dict), "the body must be an object")
    unknown = sorted(set(body) - TOP_LEVEL)
    _require(not unknown, f"unknown field {unknown[:1]}")
    _require(isinstance(body.get("model"), str) and body["model"] != "", "model must be a name")
    _require(isinstance(body.get("stream", False), bool), "stream must be true or false")
    _require("stream_options" not in body or body.get("stream") is True, "stream_options is only for streams")
    _require(len(body.get("prompt_cache_key", "")) <= 64, "prompt_cache_key: string too long, at most 64")
    for key in ("max_tokens", "max_completion_tokens"):
        _require(
            key not in body or (isinstance(body[key], int) and body[key] > 0), f"{key} must be above zero"
        )
    if "tools" in body:
        _check_tools(body["tools"])
    messages = body.get("messages")
    _require(isinstance(messages, list) and messages != [], "messages must be a list that is not empty")
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]")
    _check_order(messages)
    _check_pairing(messages)
    _require("tools" in body or not any("tool_calls" in one for one in messages), "tool calls without tools")


def _check_message(message: Any, where: str) -> None:
    _require(isinstance(message, dict), f"{where} must be an object")
    role = message.get("role")
    _require(role in FIELDS, f"{where}.role {role!r} is unknown")
    unknown = sorted(set(message) - FIELDS[role])
    _require(not unknown, f"{where} has an unknown field {unknown[:1]}")
    _require("content" in message, f"{where} has no content")
    content = message["content"]
    if content is None:
        _require("tool_calls" in message, f"{where}.content may be null only beside tool_calls")
    elif isinstance(content, list):
        _require(role == "user", f"{where}.content may have parts only in a user message")
        _check_parts(content, where)
    else:
        _require(
            isinstance(content, str) and content.strip() != "",
            f"{where}.content must be text that is not empty",
        )
    if role == "tool":
        _require(isinstance(message.get("tool_call_id"), str), f"{where} has no tool_call_id")
    if "tool_calls" in message:
        _check_calls(message["tool_calls"], where)


def _check_parts(parts: list[Any], where: str) -> None:
    _require(parts != [], f"{where}.content has no parts")
    for part in parts:
        match part:
            case {"type": "text", "text": str(text), **rest} if not rest:
                _require(text.strip() != "", f"{where}.content has an empty text part")
            case {"type": "image_url", "image_url": {"url": str(url)}, **rest} if not rest:
                known = re.match(r"https://|data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$", url)
                _require(known is not None, f"{where}.content has an image that cannot be read")
            case _:
                raise Refused(f"{where}.content has a part of an unknown type")


def _check_calls(calls: Any, where: str) -> None:
    _require(isinstance(calls, list) and calls != [], f"{where}.tool_calls must be a list that is not empty")
    for call in calls:
        match call:
            case {"id": str(id), "type": "function", "function": {"name": str(name), "arguments": str(text)}}:
                _require(ID.fullmatch(id) is not None, f"{where}.tool_calls: the id {id!r} is not valid")
                _require(
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
    _require(isinstance(value, dict), f"{where}.tool_calls: the arguments must be an object")


def _check_order(messages: list[Any]) -> None:
    """System first and once, then a user; nobody speaks twice in a row; the model is asked by a user or a result."""
    roles = [message["role"] for message in messages]
    rest = roles[1:] if roles[0] == "system" else roles
    _require("system" not in rest, "a system message must be the first one, and the only one")
    _require(rest[:1] == ["user"], "the first message after the system prompt must be the user's")
    for before, after in pairwise(rest):
        _require(before != after or after == "tool", f"two {after} messages in a row")
    _require(rest[-1] in ("user", "tool"), "the last message must be the user's or a tool result")


def _check_pairing(messages: list[Any]) -> None:
    """Every call is followed at once by its result, in declared order; no result stands elsewhere."""
    seen: set[str] = set()
    due: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            _require(due != [], f"messages[{place}] is a result without a call")
            expected = due.pop(0)
            _require(
                message["tool_call_id"] == expected, f"messages[{place}]: the result of {expected!r} was due"
            )
            continue
        _require(due == [], f"messages[{place}]: calls without results: {due}")
        due = [call["id"] for call in message.get("tool_calls", ())]
        for id in due:
            _require(id not in seen, f"messages[{place}]: the call id {id!r} was used before")
            seen.add(id)
    _require(due == [], f"calls without results at the end: {due}")


def _check_tools(tools: Any) -> None:
    _require(isinstance(tools, list) and tools != [], "tools must be a list that is not empty")
    names: set[str] = set()
    for tool in tools:
        match tool:
            case {
                "type": "function",
                "function": {"name": str(name), "description": str(), "parameters": dict(schema)},
            }:
                _require(NAME.fullmatch(name) is not None, f"tools: the name {name!r} is not valid")
                _require(name not in names, f"tools: the name {name!r} stands there twice")
                _require(
                    schema.get("type") == "object", f"tools.{name}: the parameters must be of type object"
                )
                _check_schema(schema, f"tools.{name}")
                names.add(name)
            case _:
                raise Refused("tools: an entry without type, name, description or parameters")


def _check_schema(schema: Any, where: str) -> None:
    _require(isinstance(schema, dict), f"{where}: a schema must be an object")
    kinds = schema.get("type", [])
    listed = [kinds] if isinstance(kinds, str) else kinds
    _require(isinstance(listed, list) and set(listed) <= SCHEMA_TYPES, f"{where}: unknown type {kinds!r}")
    properties = schema.get("properties", {})
    _require(isinstance(properties, dict), f"{where}: properties must be an object")
    _require(
        set(schema.get("required", [])) <= set(properties), f"{where}: a required property is not described"
    )
    _require("enum" not in schema or schema["enum"] != [], f"{where}: an enum without values")
    for name, one in properties.items():
        _check_schema(one, f"{where}.{name}")
    if "array" in listed:
        _require("items" in schema, f"{where}: an array without items")
    if "items" in schema:
        _check_schema(schema["items"], f"{where}[]")


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _strings(one)
        case dict():
            yield from value
            for one in value.values():
                yield from _strings(one)
        case _:
            pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _require(fact: bool, otherwise: str) -> None:
    if not fact:
        raise Refused(otherwise)
