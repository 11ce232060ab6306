"""How many tokens a text, a message or a request is: an estimate by kinds of characters, corrected by reports.

Tokenizers differ and cannot be asked in time, so each text is reduced to its shape, one letter a character, and what
stands in the shape is counted and weighed: letters, beginnings of words, digits, signs, scripts. The weights were
fitted to o200k_base over prose, code, data and base64 in many languages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from operator import is_
from typing import assert_never

from app.engine.messages import Block, Image, Marker, Message, Reasoning, Text, ToolCall, ToolResult
from app.engine.provider import ModelRequest, ToolDefinition

PER_MESSAGE = 4
"""Tokens that every message costs beside what it says."""

PER_IMAGE = 1_600
"""Tokens of a picture whose longest side is 2,000 pixels; what providers charge lies around it."""

LEAST, MOST = 0.5, 4.0
"""The factor of a session stays between them: some tokenizers need four times as many tokens for a script, none needs
so much less."""

_encoder = json.JSONEncoder(ensure_ascii=False, default=repr)


def _shapes() -> bytes:
    """For each byte of UTF-8 that begins a character, the letter for its kind."""
    kinds = [
        (0x00, b"."),  # control characters and ASCII signs, where nothing else is said
        (0x80, b"s"),  # signs: quotes, dashes, arrows, drawing
        (0xC3, b"l"),  # accented Latin
        (0xCE, b"g"),  # Greek
        (0xD0, b"y"),  # Cyrillic, Armenian
        (0xD6, b"h"),  # Hebrew
        (0xD8, b"r"),  # Arabic
        (0xE0, b"i"),  # the scripts of India, Thai
        (0xE1, b"v"),  # further scripts, Latin with two accents
        (0xE2, b"s"),
        (0xE3, b"k"),  # kana
        (0xE4, b"z"),  # Chinese characters
        (0xEA, b"n"),  # Hangul
        (0xEE, b"e"),  # emoji and what joins them, rare characters
    ]
    table = bytearray(256)
    for first, kind in kinds:
        table[first:] = kind * (256 - first)
    for characters, kind in (
        (b"abcdefghijklmnopqrstuvwxyz", b"a"),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"A"),
        (b"0123456789", b"0"),
        (b"\t\r\n", b"\n"),
        (b" ", b" "),
    ):
        for byte in characters:
            table[byte] = kind[0]
    return bytes(table)


_SHAPES = _shapes()
_INSIDE = bytes(range(0x80, 0xC0))
"""Bytes within a character."""

_ASCII = {
    b"a": 0.17,
    b"A": 0.33,
    b"0": 0.30,
    b".": 0.68,
    b"\n": 0.93,
    b" a": 0.45,
    b".a": 0.27,
    b"aA": 1.23,
    b"a0": 1.46,
    b"A0": 1.50,
    b".0": 1.25,
    b" 0": 1.76,
    b"..": -0.50,
}
_BEYOND = {
    b"s": 1.04,
    b"l": 1.30,
    b"g": 0.45,
    b"y": 0.37,
    b"h": 0.54,
    b"r": 0.43,
    b"i": 0.44,
    b"v": 0.39,
    b"k": 0.82,
    b"z": 0.86,
    b"n": 0.91,
    b"e": 1.67,
}
_ALL = _ASCII | _BEYOND


def estimate_tokens(text: str) -> int:
    """Tokens of a text, at least one for any text. A megabyte takes some ten milliseconds."""
    if text.isascii():
        shape, weights = text.encode().translate(_SHAPES), _ASCII
    else:
        shape, weights = text.encode("utf-8", "surrogatepass").translate(_SHAPES, _INSIDE), _ALL
    weighed = sum([weight * shape.count(piece) for piece, weight in weights.items()])
    return max(round(weighed), 1) if text else 0


def estimate_message(message: Message) -> int:
    """Tokens of a message: text, thinking, calls, results, pictures."""
    return PER_MESSAGE + sum(map(_block_tokens, message.blocks))


def estimate_fixed(system: str, tools: Iterable[ToolDefinition]) -> int:
    """Tokens of what every request carries: system prompt and tool definitions."""
    return estimate_tokens(system) + sum(map(_tool_tokens, tools))


def estimate_request(request: ModelRequest) -> int:
    """Tokens of all that a request carries."""
    return estimate_fixed(request.system, request.tools) + sum(map(estimate_message, request.messages))


class Estimator:
    """Estimates the requests of one session; each costs only what is new, and reports make the next one better."""

    def __init__(self) -> None:
        self.factor = 1.0
        """What the session's reports say of our estimates; the texts of one session are much alike."""
        self._reported = False
        self._messages: Sequence[Message] = ()
        self._sizes: list[int] = []
        self._total = 0
        self._fixed: tuple[str, tuple[ToolDefinition, ...]] = ("", ())
        self._fixed_tokens = 0

    def sizes(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """The tokens of each message, corrected."""
        self._measure(messages)
        return tuple([round(size * self.factor) for size in self._sizes])

    def fixed(self, system: str, tools: tuple[ToolDefinition, ...]) -> int:
        """The tokens of system prompt and tool definitions, corrected."""
        if self._fixed != (system, tools):
            self._fixed, self._fixed_tokens = (system, tools), estimate_fixed(system, tools)
        return round(self._fixed_tokens * self.factor)

    def request(self, system: str, tools: tuple[ToolDefinition, ...], messages: Sequence[Message]) -> int:
        """The tokens of a request, corrected."""
        self._measure(messages)
        return self.fixed(system, tools) + round(self._total * self.factor)

    def trust(self, factor: float | None) -> None:
        """Go on from what was learnt of a model before; None for one that nothing is known of."""
        self.factor = factor or 1.0
        self._reported = factor is not None

    def correct(self, estimated: int, reported: int) -> None:
        """A request estimated here cost ``reported`` tokens of input: uncached, read from and written to the cache.

        The first report is believed whole, later ones by three quarters: one odd report does not spoil the next. One
        below all tokenizers is none of the whole request: some servers leave out what their cache served.
        """
        if estimated <= 0 or reported <= 0:
            return
        seen = self.factor * reported / estimated
        if seen < LEAST:
            return
        wanted = (self.factor + 3 * seen) / 4 if self._reported else seen
        self.factor = min(wanted, MOST)
        self._reported = True

    def _measure(self, messages: Sequence[Message]) -> None:
        if messages is self._messages:
            return
        known = len(self._messages)
        if known > len(messages) or not all(map(is_, self._messages, messages)):
            sizes = {id(message): size for message, size in zip(self._messages, self._sizes, strict=True)}
            self._sizes = [sizes.get(id(message)) or estimate_message(message) for message in messages]
            self._total = sum(self._sizes)
        else:
            new = [estimate_message(message) for message in messages[known:]]
            self._sizes += new
            self._total += sum(new)
        self._messages = messages if isinstance(messages, tuple) else tuple(messages)


def _block_tokens(block: Block) -> int:
    match block:
        case Text(text=text) | ToolResult(text=text):
            return estimate_tokens(text)
        case Reasoning(text=text, data=data):
            return estimate_tokens(text or _written(data))
        case ToolCall(name=name, arguments=arguments, raw=raw):
            return PER_MESSAGE + estimate_tokens(name) + estimate_tokens(raw or _written(arguments))
        case Image():
            return PER_IMAGE
        case Marker():
            return PER_MESSAGE
        case _:
            assert_never(block)


def _tool_tokens(tool: ToolDefinition) -> int:
    written = f"{tool.name} {tool.description} {_written(tool.parameters)}"
    return PER_MESSAGE + estimate_tokens(written)


def _written(value: object) -> str:
    if value is None:
        return ""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError):
        return ""  # no request carries what is no JSON
