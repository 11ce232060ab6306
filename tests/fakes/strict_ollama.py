"""The strictest reading of a request to Ollama's own chat, by its types and what its templates can take."""

from __future__ import annotations

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
    refusal_by,
    require,
)

TOP_LEVEL = {"model", "messages", "tools", "stream", "format", "options", "keep_alive", "think", "truncate"}
OPTIONS = {"num_ctx", "num_predict", "seed", "temperature", "top_k", "top_p", "stop"}
FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content", "images"},
    "assistant": {"role", "content", "thinking", "tool_calls"},
    "tool": {"role", "content", "tool_name", "tool_call_id"},
}
PICTURES = ("image/png", "image/jpeg", "image/webp")


def refusal(raw: bytes) -> str | None:
    return refusal_by(_check_body, raw)


def _check_body(body: Any) -> None:
    check_fields(body, TOP_LEVEL, "the body")
    require(isinstance(body.get("model"), str) and body["model"] != "", "model is required")
    require(isinstance(body.get("stream", True), bool), "stream must be true or false")
    require(body.get("think", True) in (True, False, "low", "medium", "high"), "invalid think value")
    _check_options(body.get("options", {}))
    messages = body.get("messages")
    require(isinstance(messages, list) and messages != [], "messages must be a list that is not empty")
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]")
    check_roles(messages)
    check_pairing(messages)
    _check_names(messages)
    if "tools" in body:
        check_functions(body["tools"])
    require("tools" in body or not any("tool_calls" in one for one in messages), "tool calls without tools")


def _check_options(options: Any) -> None:
    check_fields(options, OPTIONS, "options")
    for name in ("num_ctx", "num_predict"):
        require(type(options.get(name, 1)) is int, f"options.{name} must be a whole number")


def _check_message(message: Any, where: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    require(role in FIELDS, f"{where}.role {role!r} is unknown")
    check_fields(message, FIELDS[role], where)
    content = message.get("content")
    require(isinstance(content, str), f"json: cannot unmarshal into {where}.content of type string")
    if not (content == "" and (message.get("tool_calls") or message.get("images"))):
        check_text(content, f"{where}.content")
    if "thinking" in message:
        check_text(message["thinking"], f"{where}.thinking")
    for image in _list(message, "images", where):
        check_image(image, where, PICTURES)
    for call in _list(message, "tool_calls", where):
        _check_call(call, where)
    if role == "tool":
        check_text(message.get("tool_name"), f"{where}.tool_name")
        require(isinstance(message.get("tool_call_id"), str), f"{where} has no tool_call_id")


def _list(message: Any, name: str, where: str) -> list[Any]:
    value = message.get(name, [None])
    require(isinstance(value, list) and value != [], f"{where}.{name} must be a list that is not empty")
    return value if name in message else []


def _check_call(call: Any, where: str) -> None:
    match call:
        case {"id": str(), "function": {"name": str(name), "arguments": dict(), **rest}, **others}:
            require(not rest and not others, f"{where}.tool_calls has an unknown field")
            require(NAME.fullmatch(name) is not None, f"{where}.tool_calls: the name {name!r} is not valid")
        case _:
            raise Refused(f"{where}.tool_calls has a call without id, name or arguments as an object")


def _check_names(messages: list[Any]) -> None:
    names: dict[str, str] = {}
    for place, message in enumerate(messages):
        names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())}
        if message["role"] == "tool":
            called = names[message["tool_call_id"]]
            require(message["tool_name"] == called, f"messages[{place}]: the result of {called!r} was due")
