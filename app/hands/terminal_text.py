"""What a program wrote to its terminal, as text: for a page with its colours, for a model without any sign of control.

Keys are masked before anybody sees it, and what may be half a key waits for the rest of its line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field

Redact = Callable[[str], str]
"""``Redactor.redact`` or its like."""


def as_it_is(text: str) -> str:
    """See ``Redact``: nothing is known that would have to be masked."""
    return text


_LONGEST_LINE = 65_536
"""Characters that wait for the end of their line; of a longer one a piece is let go, up to a blank."""
_HELD = 4_096
"""Characters of such a line that go on waiting: longer than any key on one line."""
_LONGEST_KEY_BLOCK = 16_384

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # cursor, colours, modes
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, the clipboard
    r"|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_BUT_ESCAPE = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")


@dataclass(frozen=True, slots=True)
class Text:
    """One stretch of output."""

    plain: str
    """For a model: neither colours nor control characters, of lines that were written over what stood last."""
    coloured: str
    """For a page: the same with colour sequences, and no others, where no key had to be masked in it."""


def clean(raw: str, redact: Redact) -> Text:
    """Whole lines as both kinds of readers get them."""
    if "\r" in raw:
        raw = "\n".join(map(_last_written, raw.split("\n")))
    bare = _CONTROL.sub("", _SEQUENCE.sub("", raw))
    plain = redact(bare)
    return Text(plain, _colours_only(raw) if plain == bare else plain)


def _last_written(line: str) -> str:
    """Of a line that was written over: a carriage return goes back to its beginning."""
    return line.rstrip("\r").rpartition("\r")[2]


def _colours_only(raw: str) -> str:
    kept = _SEQUENCE.sub(lambda found: found[0] if _COLOUR.fullmatch(found[0]) else "", raw)
    return _CONTROL_BUT_ESCAPE.sub("", kept)


@dataclass(slots=True)
class Cleaner:
    """The same for output that is still being written, in pieces that end anywhere."""

    redact: Redact
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )
    _waiting: str = ""

    def feed(self, data: bytes) -> Text:
        """All that can be told by now; bytes that are no text are replaced by a sign that says so."""
        self._waiting += self._decoder.decode(data)
        cut = self._ready()
        ready, self._waiting = self._waiting[:cut], self._waiting[cut:]
        return clean(ready, self.redact)

    def end(self) -> Text:
        """What waited for an end that did not come."""
        last = clean(self._waiting + self._decoder.decode(b"", final=True), self.redact)
        self._waiting = ""
        return last

    def _ready(self) -> int:
        """How much of what waits can be told: whole lines, and no part of a key block."""
        text = self._waiting
        cut = text.rfind("\n") + 1
        if len(text) - cut > _LONGEST_LINE:
            cut = text.rfind(" ", cut, -_HELD) + 1 or len(text) - _HELD
        begins = [found.start() for found in _KEY_BLOCK.finditer(text, 0, cut)]
        is_open = bool(begins) and "-----END" not in text[begins[-1] : cut]
        return begins[-1] if is_open and len(text) - begins[-1] < _LONGEST_KEY_BLOCK else cut
