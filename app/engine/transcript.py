"""One line of a transcript: a message as JSON, to the byte the same both ways.

Keys: id, seq, time, role, blocks, origin, summary; a block is an object with its ``type``. What a newer program may
have added to a line is ignored; a block of an unknown type makes its line unreadable, never the file.
"""

from __future__ import annotations

import json

import msgspec

from app.engine.messages import Block, Message, Origin, Role, Summary
from app.engine.surrogates import scrub_value


class Unreadable(ValueError):
    """A line is not a message."""


class _Line(msgspec.Struct, omit_defaults=True, gc=False):
    """A message as it is written: what tells it from others comes first."""

    id: str
    seq: int
    time: str
    role: Role
    blocks: tuple[Block, ...]
    origin: Origin | None = None
    summary: Summary | None = None


class _Place(msgspec.Struct, gc=False):
    seq: int


_USUAL = 16 * 1024
"""Bytes that hold most lines."""

_encoder = msgspec.json.Encoder()
_message = msgspec.json.Decoder(Message)
_place = msgspec.json.Decoder(_Place)


def encode(message: Message, seq: int) -> bytes:
    """The line of a message, its newline included.

    Raises ``UnicodeEncodeError`` for a lone surrogate, see ``storable``, and ``ValueError``, ``TypeError`` or
    ``RecursionError`` for arguments that are no JSON.
    """
    line = _Line(message.id, seq, message.time, message.role, message.blocks, message.origin, message.summary)
    return _encoder.encode(line) + b"\n"


def decode(line: bytes) -> tuple[Message, int]:
    """The message of a line and its ``seq``. Raises ``Unreadable``."""
    try:
        return _message.decode(line), _place.decode(line).seq
    except (msgspec.MsgspecError, RecursionError):
        return _decode_leniently(line)


def decode_all(lines: bytes | memoryview) -> tuple[list[Message], int]:
    """The messages of many lines at once, which is much faster, and the ``seq`` of the last one.

    Raises ``Unreadable`` as soon as one line is no message.
    """
    try:
        return _message.decode_lines(lines), _place.decode(_last(lines)).seq
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def _last(lines: bytes | memoryview) -> bytes:
    """The last line, found without a copy of them all."""
    size = _USUAL
    while True:
        tail = bytes(lines[-size:])
        start = tail.rfind(b"\n", 0, -1) + 1
        if start or len(tail) == len(lines):
            return tail[start:]
        size *= 4


def storable(message: Message) -> Message:
    """The same message with every lone surrogate replaced, as no file and no server takes one."""
    return msgspec.convert(scrub_value(msgspec.to_builtins(message)), Message)


def _decode_leniently(line: bytes) -> tuple[Message, int]:
    """Lines that older or foreign programs wrote: bytes that are no UTF-8, lone surrogates, bare controls."""
    try:
        value = scrub_value(json.loads(line.decode(errors="replace"), strict=False))
        return msgspec.convert(value, Message), msgspec.convert(value, _Place).seq
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise Unreadable(str(error)) from error
