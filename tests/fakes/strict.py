"""What strict servers have in common: how they read JSON, schemas and pictures, and how they say no.

Each dialect has a file of its own, ``strict_….py``, whose ``refusal`` says why a body is not acceptable, in one
sentence, or None. The compiler's tests and the fake server share them, so that "it compiles" means "every server
takes it". Nothing here knows how the application writes requests.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SCHEMA_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}
MAGIC = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF....WEBP",
}


_HALF = re.compile("[\ud800-\udfff]")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class Refused(Exception):
    """Why the request is not acceptable."""


def refusal_by(check: Callable[[Any], None], raw: bytes) -> str | None:
    """One sentence about the first thing wrong with this request body; None when all is well."""
    try:
        check(parse(raw))
    except Refused as reason:
        return str(reason)
    return None


def parse(raw: bytes) -> Any:
    """JSON as strict servers read it: UTF-8, no repeated keys, no NaN, no halves of surrogate pairs, not too deep."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the request body is not valid JSON: {error}") from None
    written = json.dumps(value, ensure_ascii=False)
    require(not _HALF.search(written), "the request body has a lone surrogate")
    require(not _NUL.search(written), "the request body has a NUL")
    return value


def check_fields(value: Any, known: set[str], where: str) -> None:
    require(isinstance(value, dict), f"{where} must be an object")
    unknown = sorted(set(value) - known)
    require(not unknown, f"{where} has an unknown field {unknown[:1]}")


def check_text(value: Any, where: str) -> None:
    require(isinstance(value, str) and value.strip() != "", f"{where} must be text that is not empty")


def check_image(data: Any, where: str, media_types: Collection[str] = tuple(MAGIC)) -> None:
    """Base64 of something that begins like a picture of one of these types."""
    require(isinstance(data, str) and data != "", f"{where} has an image without data")
    try:
        raw = base64.b64decode(data, validate=True)
    except ValueError:
        raise Refused(f"{where} has an image that is not base64") from None
    known = any(one in MAGIC and re.match(MAGIC[one], raw, re.DOTALL) for one in media_types)
    require(known, f"{where} has an image that cannot be read")
    if raw.startswith(b"\x89PNG"):
        sides = int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])
        require(min(sides) > 0 and max(sides) <= 8_000, f"{where}: image dimensions exceed 8000 pixels")


def check_functions(tools: Any) -> None:
    """Tools as OpenAI and Ollama describe them."""
    require(isinstance(tools, list) and tools != [], "tools must be a list that is not empty")
    names: set[str] = set()
    for tool in tools:
        match tool:
            case {
                "type": "function",
                "function": {"name": str(name), "description": str(), "parameters": dict(schema)},
            }:
                check_tool(name, schema, names)
            case _:
                raise Refused("tools: an entry without type, name, description or parameters")


def check_tool(name: str, schema: Mapping[str, Any], names: set[str]) -> None:
    """``names`` are those of the tools before it."""
    require(NAME.fullmatch(name) is not None, f"tools: the name {name!r} is not valid")
    require(name not in names, f"tools: the name {name!r} stands there twice")
    require(schema.get("type") == "object", f"tools.{name}: the parameters must be of type object")
    check_schema(schema, f"tools.{name}")
    names.add(name)


def check_roles(messages: list[Any]) -> None:
    """System first and once, then a user; nobody speaks twice in a row; the model is asked by a user or a result."""
    roles = [message["role"] for message in messages]
    rest = roles[1:] if roles[0] == "system" else roles
    require("system" not in rest, "a system message must be the first one, and the only one")
    require(rest[:1] == ["user"], "the first message after the system prompt must be the user's")
    for before, after in pairwise(rest):
        require(before != after or after == "tool", f"two {after} messages in a row")
    require(rest[-1] in ("user", "tool"), "the last message must be the user's or a tool result")


def check_pairing(messages: list[Any]) -> None:
    """Every call is followed at once by its result, in declared order; no result stands elsewhere."""
    seen: set[str] = set()
    due: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            require(due != [], f"messages[{place}] is a result without a call")
            expected = due.pop(0)
            require(
                message["tool_call_id"] == expected, f"messages[{place}]: the result of {expected!r} was due"
            )
            continue
        require(due == [], f"messages[{place}]: calls without results: {due}")
        due = [call["id"] for call in message.get("tool_calls", ())]
        for id in due:
            require(id not in seen, f"messages[{place}]: the call id {id!r} was used before")
            seen.add(id)
    require(due == [], f"calls without results at the end: {due}")


def check_schema(schema: Any, where: str) -> None:
    require(isinstance(schema, dict), f"{where}: a schema must be an object")
    kinds = schema.get("type", [])
    listed = [kinds] if isinstance(kinds, str) else kinds
    require(isinstance(listed, list) and set(listed) <= SCHEMA_TYPES, f"{where}: unknown type {kinds!r}")
    properties = schema.get("properties", {})
    require(isinstance(properties, dict), f"{where}: properties must be an object")
    require(
        set(schema.get("required", [])) <= set(properties), f"{where}: a required property is not described"
    )
    require("enum" not in schema or schema["enum"] != [], f"{where}: an enum without values")
    for name, one in properties.items():
        check_schema(one, f"{where}.{name}")
    if "array" in listed:
        require("items" in schema, f"{where}: an array without items")
    if "items" in schema:
        check_schema(schema["items"], f"{where}[]")


def _unique_keys(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def require(fact: bool, otherwise: str) -> None:
    if not fact:
        raise Refused(otherwise)
