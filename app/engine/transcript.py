"""One line of a transcript: a message as JSON, to the byte the same both ways.

Keys: id, seq, time, role, blocks, origin, summary; a block is an object with its ``type``. What a newer program may
have added to a line is ignored; a block of an unknown type makes its line unreadable, never the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, assert_never

import msgspec

from app.engine.messages import (
    Block,
    CallProblem,
    Image,
    Marker,
    MarkerKind,
    Message,
    Origin,
    Reasoning,
    ResultStatus,
    Role,
    Summary,
    Text,
    ToolCall,
    ToolResult,
)
from app.engine.surrogates import scrub_value


class Unreadable(ValueError):
    """A line is not a message."""


class _Wire(msgspec.Struct, tag_field="type", omit_defaults=True, gc=False):
    """A block as it is written."""


class _Text(_Wire, tag="text"):
    text: str


class _Reasoning(_Wire, tag="reasoning"):
    text: str
    signature: str | None = None
    data: dict[str, Any] | None = None


class _Call(_Wire, tag="tool_call"):
    id: str
    name: str
    arguments: dict[str, Any]
    problem: CallProblem | None = None
    raw: str | None = None
    data: dict[str, Any] | None = None


class _Result(_Wire, tag="tool_result"):
    call_id: str
    status: ResultStatus
    text: str
    code: str | None = None


class _Image(_Wire, tag="image"):
    ref: str | None = None
    media_type: str | None = None
    data: str | None = None


class _Marker(_Wire, tag="marker"):
    kind: MarkerKind


_Written = _Text | _Reasoning | _Call | _Result | _Image | _Marker


class _Origin(msgspec.Struct, omit_defaults=True, gc=False):
    provider: str
    model: str
    endpoint: str | None = None


class _Summary(msgspec.Struct, omit_defaults=True, gc=False):
    kept_from: str | None = None
    resend: list[str] = []
    tokens_before: int = 0
    tokens_after: int = 0


class _Line(msgspec.Struct, omit_defaults=True, gc=False):
    id: str
    seq: int
    time: str
    role: Role
    blocks: list[_Written]
    origin: _Origin | None = None
    summary: _Summary | None = None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Line)


def encode(message: Message, seq: int) -> bytes:
    """The line of a message, its newline included.

    Raises ``UnicodeEncodeError`` for a lone surrogate, see ``storable``, and ``ValueError``, ``TypeError`` or
    ``RecursionError`` for arguments that are no JSON.
    """
    return _encoder.encode(_line(message, seq)) + b"\n"


def decode(line: bytes) -> tuple[Message, int]:
    """The message of a line and its ``seq``. Raises ``Unreadable``."""
    try:
        written = _decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        written = _decode_leniently(line)
    return _message(written), written.seq


def decode_all(lines: bytes | memoryview) -> tuple[list[Message], int]:
    """The messages of many lines at once, which is much faster, and the highest ``seq`` among them.

    Raises ``Unreadable`` as soon as one line is no message.
    """
    try:
        written = _decoder.decode_lines(lines)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    return [_message(line) for line in written], max((line.seq for line in written), default=0)


def storable(message: Message) -> Message:
    """The same message with every lone surrogate replaced, as no file and no server takes one."""
    return _message(msgspec.convert(scrub_value(msgspec.to_builtins(_line(message, 0))), _Line))


def _decode_leniently(line: bytes) -> _Line:
    """Lines that older or foreign programs wrote: bytes that are no UTF-8, lone surrogates, bare controls."""
    try:
        value = json.loads(line.decode(errors="replace"), strict=False)
        return msgspec.convert(scrub_value(value), _Line)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise Unreadable(str(error)) from error


def _line(message: Message, seq: int) -> _Line:
    blocks = [_written(block) for block in message.blocks]
    line = _Line(message.id, seq, message.time, message.role, blocks)
    if message.origin is not None:
        line.origin = _Origin(message.origin.provider, message.origin.model, message.origin.endpoint)
    if (summary := message.summary) is not None:
        line.summary = _Summary(
            summary.kept_from, list(summary.resend), summary.tokens_before, summary.tokens_after
        )
    return line


def _message(line: _Line) -> Message:
    blocks = tuple([_read(block) for block in line.blocks])
    written = line.origin
    origin = None if written is None else _origin(written.provider, written.model, written.endpoint)
    return Message(line.role, blocks, line.id, line.time, origin, _summary(line.summary))


def _summary(written: _Summary | None) -> Summary | None:
    if written is None:
        return None
    return Summary(written.kept_from, tuple(written.resend), written.tokens_before, written.tokens_after)


@lru_cache(maxsize=64)
def _origin(provider: str, model: str, endpoint: str | None) -> Origin:
    """One value for all the messages of a model."""
    return Origin(provider, model, endpoint)


def _written(block: Block) -> _Written:
    match block:
        case Text():
            return _Text(block.text)
        case ToolCall():
            data = None if block.data is None else dict(block.data)
            return _Call(block.id, block.name, dict(block.arguments), block.problem, block.raw, data)
        case ToolResult():
            return _Result(block.call_id, block.status, block.text, block.code)
        case Reasoning():
            return _Reasoning(block.text, block.signature, None if block.data is None else dict(block.data))
        case Image():
            return _Image(block.ref, block.media_type, block.data)
        case Marker():
            return _Marker(block.marker)
        case _:
            assert_never(block)


def _read(block: _Written) -> Block:
    return _READERS[type(block)](block)


_READERS: dict[type[_Written], Callable[[Any], Block]] = {
    _Text: lambda block: Text(block.text),
    _Call: lambda block: ToolCall(
        block.id, block.name, block.arguments, block.problem, block.raw, block.data
    ),
    _Result: lambda block: ToolResult(block.call_id, block.text, block.status, block.code),
    _Reasoning: lambda block: Reasoning(block.text, block.signature, block.data),
    _Image: lambda block: Image(block.ref, block.media_type, block.data),
    _Marker: lambda block: Marker(block.kind),
}
