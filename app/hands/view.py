"""What a model is shown of a file: a range of its text, bounded, with an honest word on what is left. Pure.

The text itself is shown as it stands, without line numbers, so that it can be quoted in an edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from app.hands.errors import Refused
from app.hands.ledger import SHOWN_HASH
from app.hands.limits import RESULT_BYTES
from app.hands.text import Decoded, line_ends, number_of, printable


@dataclass(frozen=True, slots=True)
class Range:
    """Lines from 1, both ends inclusive; characters from 0, without the last."""

    unit: Literal["line", "char"]
    start: int
    end: int

    @classmethod
    def of(cls, wanted: dict[str, Any] | None) -> Range | None:
        """Raises ``Refused`` for a range that holds nothing."""
        if wanted is None:
            return None
        asked = cls(wanted["unit"], wanted["start"], wanted["end"])
        first = 1 if asked.unit == "line" else 0
        if asked.start < first or asked.end < asked.start + (1 - first):
            raise Refused(
                "E_BAD_INPUT",
                f"A range of {asked.start} to {asked.end} holds nothing. Lines count from 1 with both ends "
                "included, characters from 0 without the last.",
            )
        return asked


def view(label: str, size: int, hash_: str, decoded: Decoded, wanted: Range | None) -> str:
    """A file that was read whole. Raises ``Refused`` for a range behind its end."""
    text = printable(decoded.text.replace("\r\n", "\n"))
    notes = [number_of(size, "byte"), *_oddities(decoded), f"hash {hash_[:SHOWN_HASH]}"]
    if not text:
        return f"[{label} is empty: {', '.join(notes)}]"
    return view_text(label, text, notes, wanted)


def view_text(label: str, text: str, notes: list[str], wanted: Range | None) -> str:
    """A text of ours that is not empty, with a word on where it is from. Raises ``Refused`` as ``view``."""
    if wanted and wanted.unit == "char":
        return _chars(label, text, wanted, notes)
    return _lines(label, text, wanted, notes)


def _oddities(decoded: Decoded) -> list[str]:
    found = [] if decoded.name == "UTF-8" else [decoded.name]
    ends = line_ends(decoded.text)
    if ends in ("CRLF", "mixed"):
        found.append(f"{ends} line ends")
    if decoded.text and not decoded.text.endswith("\n"):
        found.append("no line end after the last line")
    return found


def _lines(label: str, text: str, wanted: Range | None, notes: list[str]) -> str:
    lines = text.removesuffix("\n").split("\n")
    first = wanted.start if wanted else 1
    last = min(wanted.end if wanted else len(lines), len(lines))
    if first > len(lines):
        raise Refused(
            "E_BAD_INPUT", f"{label} has {len(lines):,} lines, so none from {first:,} on. Ask for others."
        )
    shown, fits = that_fit(lines[first - 1 : last])
    if not fits:
        start = sum(len(line) + 1 for line in lines[: first - 1])
        piece = Range("char", start, start + len(lines[first - 1]))
        return _chars(label, text, piece, [f"line {first:,} of {len(lines):,}", *notes])
    end = first + fits - 1
    head = f"[{label}: lines {first:,}-{end:,} of {len(lines):,}, {', '.join(notes)}]"
    rest = (
        ""
        if end == last
        else f"\n[Cut: lines {end + 1:,}-{last:,} are left. {next_range('line', end + 1, last)}]"
    )
    return f"{head}\n{shown}{rest}"


def _chars(label: str, text: str, wanted: Range, notes: list[str]) -> str:
    if wanted.start >= len(text):
        raise Refused(
            "E_BAD_INPUT",
            f"{label} has {len(text):,} characters, so none from {wanted.start:,} on. Ask for others.",
        )
    last = min(wanted.end, len(text))
    shown = cut_to_bytes(text[wanted.start : last], RESULT_BYTES)
    end = wanted.start + len(shown)
    head = f"[{label}: characters {wanted.start:,}-{end:,} of {len(text):,}, {', '.join(notes)}]"
    rest = (
        ""
        if end == last
        else f"\n[Cut: characters {end:,}-{last:,} are left. {next_range('char', end, last)}]"
    )
    return f"{head}\n{shown}{rest}"


def that_fit(lines: list[str]) -> tuple[str, int]:
    """As many whole lines as fit into a result, joined, and their number."""
    room = RESULT_BYTES
    for count, line in enumerate(lines):
        room -= len(line.encode()) + 1
        if room < 0:
            return "\n".join(lines[:count]), count
    return "\n".join(lines), len(lines)


def cut_to_bytes(text: str, most: int) -> str:
    """The longest beginning of ``text`` that has at most ``most`` bytes and ends between two characters."""
    return text[:most].encode()[:most].decode(errors="ignore")


def next_range(unit: str, start: int, end: int) -> str:
    """How to ask for what is left."""
    return f'Go on with range {{"unit": "{unit}", "start": {start}, "end": {end}}}.'
