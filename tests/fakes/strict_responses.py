"""The strictest reading of a Responses request, by OpenAI's reference and the refusals it is known for."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.strict import (
    NAME,
    Refused,
    check_fields,
    check_image,
    check_text,
    check_tool,
    parse,
    refusal_by,
    require,
)

TOP_LEVEL = {
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "store",
}
TOP_LEVEL |= {"include", "reasoning", "max_output_tokens", "prompt_cache_key", "temperature", "top_p", "text"}
ITEMS = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"type", "call_id", "output"},
}
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}
Item = dict[str, Any]


def refusal(raw: bytes) -> str | None:
    return refusal_by(_check_body, raw)


def _check_body(body: Any) -> None:
    check_fields(body, TOP_LEVEL, "the body")
    require(isinstance(body.get("model"), str) and body["model"] != "", "model must be a name")
    require(isinstance(body.get("stream", False), bool), "stream must be true or false")
    limit = body.get("max_output_tokens", 16)
    require(type(limit) is int and limit >= 16, "max_output_tokens: integer below minimum value, 16")
    require(len(body.get("prompt_cache_key", "")) <= 64, "prompt_cache_key: string too long, at most 64")
    if "instructions" in body:
        check_text(body["instructions"], "instructions")
    if "reasoning" in body:
        check_fields(body["reasoning"], {"effort", "summary"}, "reasoning")
        require(body["reasoning"].get("effort", "low") in EFFORTS, "reasoning.effort: unknown value")
    if "tools" in body:
        _check_tools(body["tools"])
    items = body.get("input")
    require(isinstance(items, list) and items != [], "input must be a list that is not empty")
    for place, item in enumerate(items):
        _check_item(item, f"input[{place}]")
    require(items[0]["type"] == "message" and items[0]["role"] == "user", "input[0] must be the user's")
    _check_pairing(items)
    _check_thinking(items, stored=body.get("store", True))
    last = items[-1]
    asked = last["type"] == "function_call_output" or last.get("role") == "user"
    require(asked, "the last item must be the user's or the output of a call")


def _check_item(item: Any, where: str) -> None:
    kind = item.get("type") if isinstance(item, dict) else None
    require(kind in ITEMS, f"{where}: invalid value {kind!r} for type")
    check_fields(item, ITEMS[kind], where)
    match item:
        case {"type": "message", "role": "user", "content": content}:
            _check_said(content, where)
        case {"type": "message", "role": "assistant", "content": content}:
            _check_answered(item, content, where)
        case {"type": "reasoning", "id": str(id), "summary": list(parts)}:
            require(id.startswith("rs_"), f"{where}.id: expected an ID that begins with 'rs'")
            for part in parts:
                match part:
                    case {"type": "summary_text", "text": str(), **rest} if not rest:
                        pass
                    case _:
                        raise Refused(f"{where}.summary has a part that is none")
        case {"type": "function_call", "call_id": str(id), "name": str(name), "arguments": str(text)}:
            require(CALL_ID.fullmatch(id) is not None, f"{where}.call_id: the id {id!r} is not valid")
            require(NAME.fullmatch(name) is not None, f"{where}.name: the name {name!r} is not valid")
            require(
                item.get("id", "fc_").startswith("fc_"), f"{where}.id: expected an ID that begins with 'fc'"
            )
            _check_arguments(text, where)
        case {"type": "function_call_output", "call_id": str(), "output": output}:
            check_text(output, f"{where}.output")
        case _:
            raise Refused(f"{where}: missing required parameter")


def _check_said(content: Any, where: str) -> None:
    require(isinstance(content, list) and content != [], f"{where}.content has no parts")
    for part in content:
        match part:
            case {"type": "input_text", "text": text, **rest} if not rest:
                check_text(text, f"{where}.content")
            case {
                "type": "input_image",
                "image_url": str(url),
                "detail": "auto" | "low" | "high",
                **rest,
            } if not rest:
                found = re.fullmatch(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/]+={0,2})", url)
                require(found is not None, f"{where}.content has an image that is no data URL")
                check_image(found[2], f"{where}.content", {found[1]})
            case _:
                raise Refused(f"{where}.content has a part that a user cannot say")


def _check_answered(item: Item, content: Any, where: str) -> None:
    """Plain words, or a whole item of the server's own."""
    require(
        item.get("phase", "commentary") in ("commentary", "final_answer"), f"{where}.phase: unknown value"
    )
    if isinstance(content, str):
        require("id" not in item and "status" not in item, f"{where}: an own item has parts")
        check_text(content, f"{where}.content")
        return
    require(item.get("id", "").startswith("msg_"), f"{where}.id: expected an ID that begins with 'msg'")
    require(item.get("status") == "completed", f"{where}.status is missing")
    require(isinstance(content, list) and content != [], f"{where}.content has no parts")
    for part in content:
        match part:
            case {"type": "output_text", "text": text, "annotations": [], **rest} if not rest:
                check_text(text, f"{where}.content")
            case _:
                raise Refused(f"{where}.content has a part that no model says")


def _check_arguments(text: str, where: str) -> None:
    try:
        value = parse(text.encode())
    except (Refused, UnicodeEncodeError) as error:
        raise Refused(f"{where}.arguments are not JSON: {error}") from None
    require(isinstance(value, dict), f"{where}.arguments must be an object")


def _check_pairing(items: list[Item]) -> None:
    seen: set[str] = set()
    due: list[str] = []
    answering = False
    for place, item in enumerate(items):
        match item:
            case {"type": "function_call_output", "call_id": id}:
                require(id in due, f"No tool call found for function call output with call_id {id}.")
                require(id == due.pop(0), f"input[{place}]: the outputs are not in the order of the calls")
                answering = due != []
            case {"type": "function_call", "call_id": id}:
                require(not answering, f"No tool output found for function call {due[:1]}.")
                require(id not in seen, f"input[{place}]: duplicate call_id {id!r}")
                seen.add(id)
                due.append(id)
            case {"type": "reasoning"}:
                require(not answering, f"No tool output found for function call {due[:1]}.")
            case _:
                require(due == [], f"No tool output found for function call {due[:1]}.")
    require(due == [], f"No tool output found for function call {due[:1]}.")


def _check_thinking(items: list[Item], *, stored: bool) -> None:
    """Sealed, once, and right before an item of the same answer, which has its name."""
    seen: set[str] = set()
    for place, item in enumerate(items):
        if item["type"] != "reasoning":
            continue
        id = item["id"]
        sealed = isinstance(item.get("encrypted_content"), str) and item["encrypted_content"] != ""
        require(
            stored or sealed,
            f"Item with id '{id}' not found. Items are not persisted when `store` is set to false.",
        )
        require(id not in seen, f"Duplicate item found with id {id}.")
        seen.add(id)
        following = next((one for one in items[place + 1 :] if one["type"] != "reasoning"), {})
        led_to = following.get("type") == "function_call" or following.get("role") == "assistant"
        require(
            led_to and "id" in following,
            f"Item '{id}' of type 'reasoning' was provided without its required following item.",
        )


def _check_tools(tools: Any) -> None:
    require(isinstance(tools, list) and tools != [], "tools must be a list that is not empty")
    names: set[str] = set()
    for tool in tools:
        check_fields(tool, {"type", "name", "description", "parameters", "strict"}, "tools: an entry")
        match tool:
            case {"type": "function", "name": str(name), "description": str(), "parameters": dict(schema)}:
                check_tool(name, schema, names)
                loose = tool.get("strict", True) is False
                require(
                    loose or schema.get("additionalProperties") is False,
                    f"Invalid schema for function '{name}': 'additionalProperties' is required to be false",
                )
            case _:
                raise Refused("tools: an entry without type, name, description or parameters")
