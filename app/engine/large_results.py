"""Results too large for a window: kept whole elsewhere, and shown by their beginning, their end and a reference.

``read_result`` and ``search_result`` are how a model reads on; they belong to whoever keeps the texts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.engine.surrogates import scrub
from app.engine.tokens import estimate_tokens
from app.engine.tools import MOST_TOKENS, ToolOutput

HEAD_SHARE = 0.4
TAIL_SHARE = 0.2
"""Of the most that is shown whole: what stays in view of a result that is not."""

_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_LONGEST_CHARACTER = 32
"""Code points; a longer chain of joined signs is no character of any script."""


def most_for(window: int) -> int:
    """Tokens of one result that a model with this window is shown: several have to fit side by side."""
    return min(MOST_TOKENS, window // 4)


class ResultStore(Protocol):
    """Keeps texts whole for as long as their conversation lives."""

    async def keep(self, text: str) -> str:
        """Store durably; the reference under which ``read_result`` finds it again. Raises ``OSError``."""
        ...


@dataclass(slots=True)
class MemoryResults:
    """Gone with its process: the double of the seam, for tests and throw-away runs."""

    texts: dict[str, str] = field(default_factory=dict)

    async def keep(self, text: str) -> str:
        ref = f"res_{len(self.texts) + 1}"
        self.texts[ref] = text
        return ref


async def fit(output: ToolOutput, store: ResultStore, most: int = MOST_TOKENS) -> ToolOutput:
    """The output with a text that a window can hold: its own, without half characters, or a view of it."""
    text = scrub(output.text)
    if text is output.text and len(text) <= most // 4:
        return output
    if estimate_tokens(text) <= most:
        return output if text is output.text else replace(output, text=text)
    rest = (
        "The rest is where it came from. Ask for less at once."
        if output.is_kept
        else await _keep(text, store)
    )
    return replace(output, text=in_part(text, text, len(text), rest, most))


def in_part(first: str, last: str, length: int, rest: str, most: int) -> str:
    """Both ends of a text of ``length`` characters that begins with ``first`` and ends with ``last``.

    ``rest`` says where what is between them is.
    """
    head = beginning(first, int(most * HEAD_SHARE))
    tail = ending(last, int(most * TAIL_SHARE))
    left_out = f"[… {length - len(head) - len(tail):,} characters are left out here. {rest} …]"
    return f"{head}\n\n{left_out}\n\n{tail}"


def kept_as(ref: str, length: int) -> str:
    """Where a text of ``length`` characters is, for the model that may want to read on."""
    return (
        f'All {length:,} characters are stored as {ref}: search_result("{ref}", pattern) finds a place in'
        f' them, read_result("{ref}", start, end) reads from there.'
    )


def lost(error: OSError) -> str:
    """That the rest could not be stored, and why."""
    why = error.strerror or str(error)
    return f"The rest is lost: it could not be stored ({why}). Ask for less at once."


async def _keep(text: str, store: ResultStore) -> str:
    """Where the rest is from now on, in words."""
    try:
        ref = await store.keep(text)
    except OSError as error:
        return lost(error)
    return kept_as(ref, len(text))


@dataclass(frozen=True, slots=True)
class Shortened:
    """A result that ``fit`` has shortened, taken apart for people."""

    head: str
    left_out: str
    """How many characters stand between the two ends, with commas."""
    ref: str | None
    """Where the whole text is kept; None where it is lost, or lies where it was read from."""
    tail: str


_LEFT_OUT = re.compile(
    r"\n\n\[… ([\d,]{1,20}) characters are left out here\. "
    r"(?:All [\d,]+ characters are stored as (res_\w{1,40}):|The rest is )[^\n]* …\]\n\n"
)


def find_shortened(text: str) -> Shortened | None:
    """The two ends of a shortened result; None where it is whole."""
    found = _LEFT_OUT.search(text)
    return found and Shortened(text[: found.start()], found[1], found[2], text[found.end() :])


def beginning(text: str, tokens: int) -> str:
    """The longest beginning of about so many tokens, at the end of a line where one is near."""
    cut = _chars_of(text, tokens)
    if cut == len(text):
        return text
    line = text.rfind("\n", cut - cut // 4, cut)
    return text[:line] if line > 0 else text[: between_characters(text, cut)]


def ending(text: str, tokens: int) -> str:
    """The same from the end."""
    length = _chars_of(text, tokens, from_end=True)
    if length == len(text):
        return text
    cut = len(text) - length
    line = text.find("\n", cut, cut + length // 4)
    return text[line + 1 :] if line >= 0 else text[between_characters(text, cut) :]


def between_characters(text: str, cut: int) -> int:
    """The nearest place at or before ``cut`` that has a whole character, as people see it, on either side."""
    for place in range(cut, max(-1, cut - _LONGEST_CHARACTER), -1):
        if not _joined(text, place):
            return place
    return cut


def _joined(text: str, place: int) -> bool:
    """Whether the code points around ``place`` are one character."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if after in _JOINERS or before == "\u200d" or unicodedata.combining(after):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or (before, after) == ("\r", "\n"):
        return True
    flags = 0
    while flags < place and "\U0001f1e6" <= text[place - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"


def _chars_of(text: str, tokens: int, *, from_end: bool = False) -> int:
    """How many characters make about so many tokens, never more."""
    chars = min(len(text), tokens * 6)
    while chars:
        piece = text[-chars:] if from_end else text[:chars]
        counted = estimate_tokens(piece)
        if counted <= tokens:
            break
        chars = int(chars * min(0.95, tokens / counted))
    return chars
