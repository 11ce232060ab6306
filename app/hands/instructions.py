"""What a folder says about itself: ``AGENTS.md`` from the workspace down to where the work is done.

Where a folder has none, its ``CLAUDE.md`` counts. Both are read like any file, behind the path check.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html import escape
from pathlib import PurePosixPath

from app.hands.errors import Refused
from app.hands.permissions.paths import PathGate
from app.hands.text import decode, printable
from app.hands.view import cut_to_bytes

NAMES = ("AGENTS.md", "CLAUDE.md")
MOST_BYTES = 32_768
"""Of all of them together; what stands nearest to the work is kept."""

_TAG = re.compile(r"[<\uff1c\ufe64](?=\W{0,20}" + r"\W{0,3}".join("instructions") + ")", re.IGNORECASE)
"""What would close the frame around such a text, or open another one, whatever stands between its letters."""
_IMPORT = re.compile(r"@(?:\./)?([\w./-]+)")


@dataclass(frozen=True, slots=True)
class Instructions:
    """One such file: its path and its text, as they stand in a prompt between ``<instructions>`` tags."""

    path: str
    text: str


def read_instructions(gate: PathGate, directory: str = ".") -> tuple[Instructions, ...]:
    """From the workspace down to ``directory``, a path in it; the last one stands nearest. Never raises."""
    parts = PurePosixPath(directory).parts
    folders = [PurePosixPath(*parts[:depth]) for depth in range(len(parts) + 1)]
    found = [read for folder in folders if (read := _of_folder(gate, folder)) is not None]
    kept: list[Instructions] = []
    room = MOST_BYTES
    for one in reversed(found):
        text = cut_to_bytes(one.text, room)
        room -= len(text.encode())
        if text:
            kept.append(Instructions(one.path, text if text == one.text else f"{text}\n[Cut.]"))
    return tuple(reversed(kept))


def _of_folder(gate: PathGate, folder: PurePosixPath) -> Instructions | None:
    for name in NAMES:
        read = _read(gate, str(folder / name))
        if read is not None and (imported := _IMPORT.fullmatch(read.text)):
            read = _read(gate, str(folder / imported[1])) or read
        if read is not None:
            return read
    return None


def _read(gate: PathGate, path: str) -> Instructions | None:
    try:
        with gate.find(path, "read") as place, place.open_file() as file:
            data = os.pread(file.fileno(), MOST_BYTES + 4, 0)
            label = place.label
    except (Refused, OSError):
        return None
    decoded = decode(data)
    text = printable(decoded.text).strip() if decoded else ""
    return Instructions(escape(label), _TAG.sub("&lt;", text)) if text else None
