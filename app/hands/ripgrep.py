"""ripgrep as a scout: it names the files that may hold a match, and nothing it prints is shown to anybody.

Whatever it names is opened and searched again by ``grep.py``, behind the path check. So its answers are those
of the search without it, and a link that is put in its way gives nothing away.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from anyio.abc import Process

from app.hands.children import child, output_of
from app.hands.grep import Search
from app.hands.permissions.lists import NOISE
from app.hands.regex_tree import wider_for_ripgrep

_MOST_OUTPUT = 32 * 1024 * 1024
_FLAGS = (
    *("--no-config", "--no-messages", "--no-ignore", "--hidden", "--no-follow", "--color=never"),
    *("--files-with-matches", "--null", "--case-sensitive"),
)


def find_ripgrep(workspace: Path) -> Path | None:
    """The installed ripgrep; one that lies in the workspace is not ours to run."""
    found = shutil.which("rg")
    if found is None or not Path(found).is_absolute() or Path(found).resolve().is_relative_to(workspace):
        return None
    return Path(found)


async def name_candidates(ripgrep: Path, folder: Path, search: Search) -> list[str] | None:
    """Paths below ``folder`` of all files that may hold a match, and perhaps of others.

    None where ripgrep does not understand the pattern or cannot be used.
    """
    pattern = _pattern(search)
    if pattern is None:
        return None
    command = (str(ripgrep), *_FLAGS, *_globs(search.glob), *pattern, "--", ".")
    try:
        async with child(command, folder=folder) as process:
            output = await _read(process)
            code = await process.wait() if output is not None else -1
    except OSError:
        return None
    # 2 is for a pattern it refuses, and also for files it may not read beside others that it may.
    if output is None or not (code in (0, 1) or (code == 2 and output)):
        return None
    return [os.fsdecode(path).removeprefix("./") for path in output.split(b"\0") if path]


async def _read(process: Process) -> bytes | None:
    output = bytearray()
    async for piece in output_of(process):
        output += piece
        if len(output) > _MOST_OUTPUT:
            return None
    return bytes(output)


def _pattern(search: Search) -> tuple[str, ...] | None:
    query = search.query
    if query.case_sensitive and not query.regex:
        return "--fixed-strings", f"--regexp={query.pattern}"
    written = query.pattern if query.regex else re.escape(query.pattern)
    wider = wider_for_ripgrep(written, case_sensitive=query.case_sensitive)
    return None if wider is None else (f"--regexp={wider}",)


def _globs(glob: str | None) -> Iterator[str]:
    """What narrows its walk without losing a file: the last name of a simple glob, then the folders left out."""
    last = (glob or "").rpartition("/")[2]
    if last and "**" not in last and not set(last) & set("{}[]\\!"):
        yield f"--glob={last}"
    yield from (f"--glob=!{name}/" for name in NOISE)
