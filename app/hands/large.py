"""A range of a file that is too large to be read whole: in flat memory, and only as far as it has to go."""

from __future__ import annotations

import io

from app.hands.errors import Refused
from app.hands.limits import RESULT_BYTES, SKIPPED_BYTES, SNIFFED_BYTES
from app.hands.text import guess_encoding, mark_of, printable
from app.hands.threads import CheckStop
from app.hands.view import Range, cut_to_bytes, next_range, that_fit

_PIECE = 1 << 16
"""Characters taken at a time: a line may have no end."""


def view_large(label: str, size: int, file: io.FileIO, wanted: Range | None, check_stop: CheckStop) -> str:
    """Raises ``Refused`` for a range that begins too far down or behind the end."""
    asked = wanted or Range("line", 1, size)
    with _text(file) as text:
        skipped = _skip(text, asked, check_stop)
        ahead = printable(text.read(RESULT_BYTES + 1)) if skipped is not None else ""
    if skipped is None or not ahead:
        raise Refused(
            "E_BAD_INPUT",
            f"{label} has no {asked.unit} {asked.start:,}, or it is too far down to be read. "
            "Ask for an earlier range, or look for the place with grep_files.",
        )
    about = f"{size:,} bytes: too large to be shown or edited whole"
    lines = ahead.replace("\r\n", "\n").split("\n")
    if len(ahead) > RESULT_BYTES:
        lines.pop()  # its end is still to come
    shown, fits = that_fit(lines[: asked.end - asked.start + 1])
    if asked.unit == "line" and fits:
        end = asked.start + fits - 1
        rest = (
            "" if end == asked.end else f"\n[Cut. {next_range('line', end + 1, min(asked.end, end + fits))}]"
        )
        return f"[{label}: lines {asked.start:,}-{end:,}, {about}]\n{shown}{rest}"
    most = asked.end - asked.start if asked.unit == "char" else len(ahead)
    shown = cut_to_bytes(ahead[:most], RESULT_BYTES)
    end = skipped + len(shown)
    where = f"characters {skipped:,}-{end:,}" + (f" of line {asked.start:,}" if asked.unit == "line" else "")
    rest = "" if len(shown) == most else f"\n[Cut. {next_range('char', end, end + len(shown))}]"
    return f"[{label}: {where}, {about}]\n{shown}{rest}"


def _text(file: io.FileIO) -> io.TextIOWrapper:
    head = file.read(SNIFFED_BYTES) or b""
    mark, encoding = mark_of(head)
    # The last bytes may be half of a character, which says nothing about the others.
    file.seek(len(mark))
    return io.TextIOWrapper(
        io.BufferedReader(file), encoding or guess_encoding(head[:-4]), "replace", newline="\n"
    )


def _skip(text: io.TextIOWrapper, asked: Range, check_stop: CheckStop) -> int | None:
    """Go to where the range begins; how many characters stand before it, or None if that is too far."""
    left = asked.start if asked.unit == "char" else asked.start - 1
    skipped = 0
    while left:
        check_stop()
        piece = text.read(min(left, _PIECE)) if asked.unit == "char" else text.readline(_PIECE)
        skipped += len(piece)
        if not piece or skipped > SKIPPED_BYTES:
            return None
        left -= len(piece) if asked.unit == "char" else piece.endswith("\n")
    return skipped
