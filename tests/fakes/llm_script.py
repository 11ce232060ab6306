"""What the fake model server is to answer, as plain JSON values that tests build and send to it.

An answer is a list of steps, played in order on the wire:

    {"text": "Hel"}  {"reasoning": "hm"}  {"text": "x ", "times": 5000}
    {"sealed": "Eo4C"}                                thinking that is not shown, where the dialect has it
    {"refusal": "I cannot."}                          where the dialect tells it from text
    {"call": {"index": 0, "id": "call_1", "name": "read_file", "arguments": "{\\"pa"}}   any key may be missing
    {"usage": {"input": 11, "output": 7, "cached": 3}}    tokens, where the dialect puts them
    {"finish": "stop"}  {"done": true}                the finish reason; the closing mark of the dialect
    {"chunk": {...}}                                  a payload as it stands, whatever the dialect
    {"error": {"message": "...", "code": 502}}        an error inside the stream
    {"comment": "ping"}  {"raw": "data: {bad"}  {"bytes": "<base64>"}     below the level of events
    {"wait_ms": 20}  {"hold": "name"}                 time passes; the stream stands until POST /release
    {"cut": true}  {"reset": true}                    the connection closes early; it is torn down with RST

An answer with a ``body`` or a ``failure`` is sent whole; ``before`` are steps played before the response begins.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Step = dict[str, Any]
Answer = dict[str, Any]

CONTENT = ("text", "reasoning", "sealed", "call", "chunk", "raw", "bytes")

_fresh = itertools.count(1)


def say(
    *pieces: str,
    reasoning: Iterable[str] = (),
    calls: Iterable[Sequence[Step]] = (),
    usage: tuple[int, int] | Mapping[str, Any] | None = (11, 7),
    finish: str | None = "auto",
    every_ms: float = 0,
) -> Answer:
    """A well-formed streamed answer: reasoning, then text in these pieces, then calls made by ``call``."""
    fragments = [step for one in calls for step in one]
    steps: list[Step] = [{"reasoning": piece} for piece in reasoning]
    steps += [{"text": piece} for piece in pieces]
    steps += _numbered(fragments)
    if every_ms:
        steps = [step for one in steps for step in (one, {"wait_ms": every_ms})]
    reason = ("tool_calls" if fragments else "stop") if finish == "auto" else finish
    steps += [{"finish": reason}] if reason else []
    if usage is not None:
        counts = dict(usage) if isinstance(usage, Mapping) else {"input": usage[0], "output": usage[1]}
        steps.append({"usage": counts})
    return {"steps": [*steps, {"done": True}]}


def call(
    name: str, arguments: Mapping[str, Any] | str, *, id: str | None = None, pieces: int = 1
) -> list[Step]:
    """A tool call in one opening fragment and ``pieces`` fragments of arguments; ``say`` gives it an index.

    Without an ``id`` it gets one that no other call of this process has.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    size = max(1, -(-len(text) // pieces))
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    id = f"call_{next(_fresh)}" if id is None else id
    return [
        {"call": {"id": id, "name": name, "arguments": ""}},
        *({"call": {"arguments": part}} for part in parts),
    ]


def fail(
    status: int,
    message: str = "",
    *,
    code: str | int | None = None,
    type: str | None = None,
    retry_after: str | int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error response with the JSON body of the dialect; without a message the body is empty."""
    fields = dict(headers or {})
    if retry_after is not None:
        fields["retry-after"] = str(retry_after)
    answer: Answer = {"status": status, "headers": fields}
    if not message:
        return {**answer, "body": ""}
    return {**answer, "failure": {"message": message, "type": type, "code": code}}


def page(text: str = "<html><title>Sign in</title></html>", *, status: int = 200) -> Answer:
    """An HTML page where an answer was due, as a captive portal sends it."""
    return {"status": status, "headers": {"content-type": "text/html"}, "body": text}


def chunks(*payloads: Mapping[str, Any], done: bool = True) -> Answer:
    """Exactly these payloads, one event each."""
    return {
        "steps": [*({"chunk": dict(payload)} for payload in payloads), *([{"done": True}] if done else [])]
    }


def pieces(*network: bytes) -> Answer:
    """Exactly these pieces of the body, one write each."""
    return {"steps": [{"bytes": base64.b64encode(piece).decode()} for piece in network]}


def insert(answer: Answer, after: int, *steps: Step) -> Answer:
    """The same answer with these steps after its first ``after`` pieces of content."""
    position = _position(answer["steps"], after)
    return {**answer, "steps": [*answer["steps"][:position], *steps, *answer["steps"][position:]]}


def hold(answer: Answer, after: int, name: str = "hold") -> Answer:
    """The same answer, standing still after ``after`` pieces of content until it is released."""
    return insert(answer, after, {"hold": name})


def cut(answer: Answer, after: int, *, how: str = "cut") -> Answer:
    """The same answer, its connection closed (``cut``) or torn down (``reset``) after ``after`` pieces of content."""
    return {**answer, "steps": [*answer["steps"][: _position(answer["steps"], after)], {how: True}]}


def _position(steps: Sequence[Step], after: int) -> int:
    content = [place for place, step in enumerate(steps) if any(key in step for key in CONTENT)]
    return 0 if after == 0 else content[after - 1] + 1


def _numbered(fragments: Sequence[Step]) -> list[Step]:
    """Each opening fragment takes the next index, the ones after it share it."""
    index = -1
    numbered: list[Step] = []
    for step in fragments:
        index += "name" in step["call"]
        numbered.append({"call": {"index": index, **step["call"]}})
    return numbered
