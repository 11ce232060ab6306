"""What can happen to a file of lines: the damages of ``repair_cases.jsonl``, done to bytes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

Lines = list[bytes]


def damaged(data: bytes, damage: dict[str, Any]) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(_DAMAGES[damage["kind"]](lines, damage))


def _none(lines: Lines, damage: dict[str, Any]) -> Lines:
    return lines


def _cut_last_line(lines: Lines, damage: dict[str, Any]) -> Lines:
    whole = lines[-1].removesuffix(b"\n")
    if damage["keep"] == "all_but_newline":
        return [*lines[:-1], whole]
    keep = len(whole) // 2 if damage["keep"] == "half" else int(damage["keep"])
    return [*lines[:-1], whole[:keep]]


def _cut_inside_character(lines: Lines, damage: dict[str, Any]) -> Lines:
    text = damage["text"].encode()
    return [*lines[:-1], lines[-1][: lines[-1].rindex(text) + len(text) - 1]]


def _append_bytes(lines: Lines, damage: dict[str, Any]) -> Lines:
    return [*lines, _bytes(damage)]


def _prepend_bytes(lines: Lines, damage: dict[str, Any]) -> Lines:
    return [_bytes(damage), *lines]


def _replace_lines(lines: Lines, damage: dict[str, Any]) -> Lines:
    hit = damage["indexes"] if "indexes" in damage else [damage["index"]]
    return [_bytes(damage) + b"\n" if index in hit else line for index, line in enumerate(lines)]


def _repeat_line(lines: Lines, damage: dict[str, Any]) -> Lines:
    index = damage["index"]
    return [*lines[: index + 1], *lines[index:]]


def _crlf(lines: Lines, damage: dict[str, Any]) -> Lines:
    return [line.replace(b"\n", b"\r\n") for line in lines]


def _bytes(damage: dict[str, Any]) -> bytes:
    return base64.b64decode(damage["bytes_b64"])


_DAMAGES: dict[str, Callable[[Lines, dict[str, Any]], Lines]] = {
    "none": _none,
    "cut_last_line": _cut_last_line,
    "cut_inside_character": _cut_inside_character,
    "append_bytes": _append_bytes,
    "prepend_bytes": _prepend_bytes,
    "replace_line": _replace_lines,
    "replace_lines": _replace_lines,
    "repeat_line": _repeat_line,
    "crlf": _crlf,
}
