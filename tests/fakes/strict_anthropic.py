"""The strictest reading of an Anthropic Messages request, by the API's reference and the refusals it is known for."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from tests.fakes.strict import (
    NAME,
    Refused,
    check_fields,
    check_image,
    check_text,
    check_tool,
    refusal_by,
    require,
)

TOP_LEVEL = {"model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "temperature"}
TOP_LEVEL |= {"top_p", "top_k", "stop_sequences", "metadata", "thinking", "output_config"}
BLOCKS = {
    "text": {"type", "text", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}
SPEAKERS = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
THINKING = {"thinking", "redacted_thinking"}
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LARGEST_IMAGE = 5 * 1024 * 1024
LARGEST_BODY = 32 * 1024 * 1024
MANY_IMAGES = 20


def refusal(raw: bytes) -> str | None:
    if len(raw) > LARGEST_BODY:
        return "Request exceeds the maximum size"
    return refusal_by(_check_body, raw)


def _check_body(body: Any) -> None:
    check_fields(body, TOP_LEVEL, "the body")
    require(isinstance(body.get("model"), str) and body["model"] != "", "model: field required")
    limit = body.get("max_tokens")
    require(type(limit) is int and limit > 0, "max_tokens: field required, above zero")
    require(isinstance(body.get("stream", False), bool), "stream must be true or false")
    _check_system(body.get("system", "absent"))
    messages = body.get("messages")
    require(isinstance(messages, list) and messages != [], "messages: at least one message is required")
    for place, message in enumerate(messages):
        _check_message(message, f"messages.{place}")
    _check_order(messages)
    _check_pairing(messages)
    if "tools" in body:
        _check_tools(body["tools"])
    blocks = [block for message in messages for block in _blocks(message)]
    tooled = any(block["type"] in ("tool_use", "tool_result") for block in blocks)
    require("tools" in body or not tooled, "tool blocks without tools")
    require(sum(block["type"] == "image" for block in blocks) <= MANY_IMAGES, "more than 20 images")
    _check_cache(body, blocks)
    _check_thinking(body)


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        check_text(system, "system")
        return
    require(isinstance(system, list) and system != [], "system must be text or a list of blocks")
    for block in system:
        _check_block(block, {"text"}, "system")


def _check_message(message: Any, where: str) -> None:
    check_fields(message, {"role", "content"}, where)
    role, content = message.get("role"), message.get("content")
    require(role in SPEAKERS, f"{where}.role: must be user or assistant")
    if isinstance(content, str):
        check_text(content, f"{where}.content")
        return
    require(isinstance(content, list) and content != [], f"{where}: messages must have non-empty content")
    for place, block in enumerate(content):
        _check_block(block, SPEAKERS[role], f"{where}.content.{place}")
    kinds = [block["type"] for block in content]
    if THINKING & set(kinds):
        require(kinds[0] in THINKING, f"{where}: the first block must be thinking where there is any")
        require(kinds[-1] not in THINKING, f"{where}: the final block cannot be thinking")


def _check_block(block: Any, allowed: set[str], where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    require(kind in allowed, f"{where}: a block of type {kind!r} does not belong here")
    check_fields(block, BLOCKS[kind], where)
    match block:
        case {"type": "text"}:
            check_text(block.get("text"), f"{where}: text content blocks")
        case {"type": "image", "source": {"type": "base64", "media_type": str(media), "data": data, **rest}}:
            require(not rest, f"{where}.source has an unknown field")
            check_image(data, where, {media})
            require(len(data) <= LARGEST_IMAGE, f"{where}: image exceeds 5 MB maximum")
        case {"type": "tool_use", "id": str(id), "name": str(name), "input": dict()}:
            require(ID.fullmatch(id) is not None, f"{where}.tool_use.id: string should match the pattern")
            require(
                NAME.fullmatch(name) is not None, f"{where}.tool_use.name: the name {name!r} is not valid"
            )
        case {"type": "tool_result", "tool_use_id": str(), "content": content}:
            check_text(content, f"{where}.tool_result.content")
            require(block.get("is_error", False) in (True, False), f"{where}.is_error must be true or false")
        case {"type": "thinking", "thinking": str(), "signature": str(signature)}:
            require(signature != "", f"{where}: invalid signature in thinking block")
        case {"type": "redacted_thinking", "data": str(data)}:
            require(data != "", f"{where}: redacted thinking without data")
        case _:
            raise Refused(f"{where}: a block without all of its fields")


def _check_order(messages: list[Any]) -> None:
    roles = [message["role"] for message in messages]
    require(roles[0] == "user", "messages: first message must use the user role")
    for before, after in pairwise(roles):
        require(before != after, "messages: roles must alternate between user and assistant")
    require(roles[-1] == "user", "the conversation must end with a user message")


def _check_pairing(messages: list[Any]) -> None:
    seen: set[str] = set()
    due: list[str] = []
    for place, message in enumerate(messages):
        blocks = _blocks(message)
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        require(answered == due, f"messages.{place}: the results of {due} were due, not of {answered}")
        first = blocks[: len(answered)]
        results_first = all(block["type"] == "tool_result" for block in first)
        require(results_first, f"messages.{place}: results must come before anything else")
        due = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for id in due:
            require(id not in seen, f"messages.{place}: tool_use ids must be unique, {id!r} is not")
            seen.add(id)
    require(due == [], f"tool_use without tool_result at the end: {due}")


def _check_thinking(body: Any) -> None:
    """By effort on newer models. By a budget on older ones, and then a step that is open must have begun with it."""
    effort = body.get("output_config", {"effort": "low"})
    known = effort in ({"effort": "low"}, {"effort": "medium"}, {"effort": "high"})
    require(known, "output_config.effort: unknown value")
    match body.get("thinking"):
        case None | {"type": "disabled"} | {"type": "adaptive", "display": "summarized" | "omitted"}:
            pass
        case {"type": "enabled", "budget_tokens": int(budget), **rest} if not rest:
            require(budget >= 1_024, "thinking.enabled.budget_tokens: must be 1024 at least")
            require(budget < body["max_tokens"], "`max_tokens` must be greater than `thinking.budget_tokens`")
            *_, before, last = [None, *body["messages"]]
            if _blocks(last)[0]["type"] == "tool_result":
                begun = _blocks(before)[0]["type"] in THINKING
                require(begun, "Expected `thinking`, but found `tool_use`, when `thinking` is enabled")
        case _:
            raise Refused("thinking: unknown form")


def _check_tools(tools: Any) -> None:
    require(isinstance(tools, list) and tools != [], "tools must be a list that is not empty")
    names: set[str] = set()
    for tool in tools:
        check_fields(tool, {"name", "description", "input_schema", "cache_control"}, "tools: an entry")
        match tool:
            case {"name": str(name), "description": str(), "input_schema": dict(schema)}:
                check_tool(name, schema, names)
            case _:
                raise Refused("tools: an entry without name, description or input_schema")


def _check_cache(body: Any, blocks: list[Any]) -> None:
    system = body.get("system", [])
    holders = [*(system if isinstance(system, list) else ()), *body.get("tools", ()), *blocks]
    marks = [holder["cache_control"] for holder in holders if "cache_control" in holder]
    require(len(marks) <= 4, f"a maximum of 4 blocks with cache_control may be provided, found {len(marks)}")
    require(all(mark == {"type": "ephemeral"} for mark in marks), "cache_control must be ephemeral")


def _blocks(message: Any) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
