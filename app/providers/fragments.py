"""Pieces of tool calls and of structured thinking in a chat-completions delta, whatever their types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from app.engine.chat_writer import ADDED
from app.engine.provider import CallFragment
from app.engine.surrogates import scrub, scrub_value

MOST_DETAILS = 256
"""Pieces of structured thinking that one answer may have; what else is begun is not kept."""

_LONGEST_INDEX = 9
"""Digits. Python refuses to read some thousands of them."""


def read_calls(calls: Any, *, numbered: bool) -> Iterator[CallFragment]:
    """The fragments of ``tool_calls``; with ``numbered`` the place in the list stands for a missing index."""
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            index = call.get("index", place if numbered else None)
            function = call.get("function")
            fragment = _fragment(index, call.get("id"), function if isinstance(function, dict) else {})
            added = {name: scrub_value(call[name]) for name in sorted(ADDED & call.keys()) if call[name]}
            yield replace(fragment, data=added) if added else fragment


def read_legacy_call(call: Any) -> Iterator[CallFragment]:
    """The one call of the old ``function_call`` form, which has no id."""
    if isinstance(call, dict):
        yield _fragment(0, None, call)


def add_details(known: list[dict[str, Any]], pieces: list[Any]) -> None:
    """Add pieces of structured thinking: those of one index are one, its texts grow, the rest is taken over."""
    for piece in pieces:
        if not isinstance(piece, dict):
            continue
        begun = next((one for one in known if one.get("index") == piece.get("index")), None)
        if begun is None or begun.get("type") != piece.get("type"):
            if len(known) < MOST_DETAILS:
                known.append(dict(piece))
            continue
        for key, value in piece.items():
            grows = key in ("text", "summary", "data") and isinstance(begun.get(key), str)
            if grows and isinstance(value, str):
                begun[key] += value
            elif value is not None:
                begun[key] = value


def _fragment(index: Any, id: Any, function: Mapping[str, Any]) -> CallFragment:
    name, arguments = function.get("name"), function.get("arguments")
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return CallFragment(_number(index), scrub(_string(id) or "") or None, _string(name), _string(arguments))


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) <= _LONGEST_INDEX:
        return int(value)
    return value if isinstance(value, int) else None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else None
