"""Tool calls put together from the fragments of a stream, by index and by id, whatever the server left out.

Servers differ: parallel calls that all say index 0, no index, no id, a new id with every fragment, a name that
comes late, in two pieces or again and again. ``CallAssembler`` decides for each fragment which call it belongs
to; ``read_arguments`` says what the assembled text is worth. Nothing doubtful is ever made runnable.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from app.engine.messages import CallProblem, ToolCall
from app.engine.provider import CallFragment, StopReason
from app.engine.surrogates import has_half, scrub, scrub_value
from app.infra.ids import NewId, new_id

MAX_ARGUMENTS = 4_000_000
"""Characters of arguments that one call may have; what comes after them is not kept and the call is not run."""

MAX_CALLS = 256
"""Calls that one answer may have; what else is begun is not kept."""

MAX_DEPTH = 100
"""Levels of nesting in them; a model that has gone astray opens brackets without end."""

_NESTING = (dict, list)
_MARKS = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)
_HALF = re.compile(r"\\u[dD]")
_CUT_NUMBER = re.compile(r"-|\.?\d*(\.|[eE][+-]?)")


class CallAssembler:
    """The calls of one answer while they arrive."""

    def __init__(self, new_id: NewId = new_id, taken: Container[str] = ()) -> None:
        """``taken`` are ids that no new call may have, whatever the server says."""
        self._new_id = new_id
        self._taken = taken
        self._calls: list[_OpenCall] = []

    def add(self, fragment: CallFragment) -> str | None:
        """Add a fragment; the id of the call it belongs to, None while the server has not named one.

        Costs the same however much has been added before.
        """
        call = self._find(fragment)
        if call is None or not call.continues_with(fragment):
            if len(self._calls) == MAX_CALLS:
                return None
            call = self._open(fragment)
        call.take(fragment)
        if call.id is None and fragment.id and not self._is_taken(fragment.id):
            call.id = fragment.id
        return call.id

    @property
    def written(self) -> str:
        """Names and arguments of all calls, as far as they are kept."""
        return " ".join(call.name + "".join(call.pieces) for call in self._calls)

    def finish(self, stop: StopReason | None) -> tuple[ToolCall, ...]:
        """All calls in declared order; one that cannot be run has a ``problem`` and its text in ``raw``.

        ``stop`` is why the model stopped: without a reason, or at the output limit, a call that has no
        arguments yet is incomplete and not a call without arguments.
        """
        whole = stop not in (None, "output_limit")
        return tuple(self._finished(call, whole) for call in sorted(self._calls, key=lambda call: call.index))

    def _find(self, fragment: CallFragment) -> _OpenCall | None:
        """The call a fragment may continue: the newest one of its id within its index, else of its index."""
        candidates = [call for call in reversed(self._calls) if fragment.index in (None, call.index)]
        owners = [call for call in candidates if fragment.id and fragment.id in call.ids]
        return next(iter(owners or candidates), None)

    def _open(self, fragment: CallFragment) -> _OpenCall:
        last = self._calls[-1].index if self._calls else 0
        call = _OpenCall(last if fragment.index is None else fragment.index)
        self._calls.append(call)
        return call

    def _finished(self, call: _OpenCall, whole: bool) -> ToolCall:
        call.id = call.id or self._new_id("call")
        name, raw = scrub(call.name).strip(), scrub("".join(call.pieces))
        arguments, problem = read_arguments(raw, blank_is_empty=whole)
        if call.overlong:
            problem = "incomplete"
        if not name:
            problem = "no_name"
        if problem is not None:
            return ToolCall(call.id, name, {}, problem, raw, call.data)
        return ToolCall(call.id, name, arguments, data=call.data)

    def _is_taken(self, id: str) -> bool:
        return id in self._taken or any(call.id == id for call in self._calls)


@dataclass(slots=True)
class _Shape:
    """How far a JSON text has come that arrives in pieces, without reading it again at each of them."""

    depth: int = 0
    in_string: bool = False
    escaped: bool = False
    last: str = ""
    """The last character that is no space; empty before the first."""

    @property
    def is_open(self) -> bool:
        """The text was begun and is not complete."""
        return bool(self.last) and (self.last not in '}"' or self.in_string or self.depth > 0)

    def feed(self, piece: str) -> None:
        self.last = piece.rstrip()[-1:] or self.last
        rest = piece[1:] if self.escaped else piece
        self.escaped = self.escaped and not piece
        for mark in _MARKS.finditer(rest):
            match mark[0]:
                case '"':
                    self.in_string = not self.in_string
                case "{" | "[" if not self.in_string:
                    self.depth += 1
                case "}" | "]" if not self.in_string:
                    self.depth -= 1
                case "\\":
                    self.escaped = self.in_string
                case _:
                    pass


@dataclass(slots=True)
class _OpenCall:
    index: int
    id: str | None = None
    ids: set[str] = field(default_factory=set)
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    shape: _Shape = field(default_factory=_Shape)
    looked_at: int = 0
    """Of the pieces; most servers never give a reason to look."""
    data: dict[str, Any] | None = None

    @property
    def overlong(self) -> bool:
        return self.size > MAX_ARGUMENTS

    def continues_with(self, fragment: CallFragment) -> bool:
        """Whether the fragment is more of this call and not the beginning of the next one at the same index."""
        if fragment.id and fragment.id in self.ids:
            return True
        new_id = bool(fragment.id) and bool(self.ids)
        if not new_id and not fragment.name:
            return True
        more = (fragment.arguments or "").strip()
        shape = self._look()
        if shape.is_open:
            # Some servers make a new id, or send the name again, with every fragment.
            again = not fragment.name or (not new_id and fragment.name == self.name)
            return again or (more != "" and not more.startswith("{"))
        if more and shape.last:
            return False
        return not (new_id and fragment.name)

    def take(self, fragment: CallFragment) -> None:
        if fragment.id:
            self.ids.add(fragment.id)
        if fragment.name:
            self.name = _joined(self.name, fragment.name)
        if fragment.data:
            self.data = {**(self.data or {}), **fragment.data}
        if fragment.arguments:
            self.size += len(fragment.arguments)
            if not self.overlong:
                self.pieces.append(fragment.arguments)

    def _look(self) -> _Shape:
        for piece in self.pieces[self.looked_at :]:
            self.shape.feed(piece)
        self.looked_at = len(self.pieces)
        return self.shape


def read_arguments(text: str, *, blank_is_empty: bool = True) -> tuple[dict[str, Any], CallProblem | None]:
    """The arguments a call's text stands for, or why it stands for none.

    Blank text is a call without arguments; an object wrapped once more into a JSON string is unwrapped. Numbers
    are exact, a key that stands twice and values that are no JSON or too deep are refused, halves of characters
    are scrubbed.
    """
    if not text.strip():
        return ({}, None) if blank_is_empty else ({}, "incomplete")
    try:
        value = _decoder.decode(text)
        if isinstance(value, str):
            text, value = value, _load_or_none(value)
    except _DuplicateKey:
        return {}, "duplicate_key"
    except json.JSONDecodeError as error:
        return {}, "incomplete" if _is_cut(error) else "not_json"
    except (ValueError, RecursionError):
        return {}, "not_json"
    if not isinstance(value, dict):
        return {}, "not_object"
    if is_deep(value):
        return {}, "not_json"
    return scrub_value(value) if _may_hold_halves(text) else value, None


def _may_hold_halves(text: str) -> bool:
    """Of JSON: told from its text, as a walk through large arguments takes seconds."""
    return has_half(text) or _HALF.search(text) is not None


class _DuplicateKey(Exception):
    pass


def _load_or_none(text: str) -> Any:
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError):
        return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKey
    return found


def is_deep(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Level by level, as a recursion would fail where it matters."""
    level = [value]
    for _ in range(levels):
        inside = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for items in inside for item in items if isinstance(item, _NESTING)]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is out of range")
    return number


_decoder = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, strict=False
)


def _is_cut(error: json.JSONDecodeError) -> bool:
    """Whether the text is the beginning of something valid."""
    rest = error.doc[error.pos :].strip()
    in_string = error.msg.startswith("Unterminated string")
    in_escape = error.msg.startswith("Invalid \\u") and len(rest) < len("\\u0000")
    in_word = any(word.startswith(rest) for word in ("true", "false", "null"))
    return in_string or in_escape or in_word or _CUT_NUMBER.fullmatch(rest) is not None


def _joined(name: str, piece: str) -> str:
    """A name sent again is not doubled; one sent in pieces is put together."""
    return piece if piece.startswith(name) else name if piece == name else name + piece
