"""Large results, kept in the data folder for as long as their conversation, and the tools that page through them."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

from app.engine.large_results import beginning
from app.engine.tokens import estimate_tokens
from app.engine.tools import MOST_TOKENS, Tool, ToolContext, ToolOutput
from app.hands.caseless import places
from app.hands.errors import Refused
from app.hands.text import number_of
from app.hands.threads import CheckStop, in_thread
from app.hands.tool import Arguments, HandTool, schema
from app.infra.files import write_atomic
from app.infra.ids import NewId, new_id
from app.infra.threads import to_the_end

_REF = re.compile(r"res_[0-9a-z]{1,40}")
_MOST_TOKENS = MOST_TOKENS // 2
_SHARE = 0.8
"""Of the most that is shown of a result, and never more than ``_MOST_TOKENS``."""
_MOST_PLACES = 50
_LONGEST_PATTERN = 1_000
_AROUND = 120
"""Characters shown on either side of a place that was found."""

_REF_SCHEMA = {"type": "string", "description": "The reference, res_…, that stands in the shortened result."}


@dataclass(frozen=True, slots=True)
class StoredResults:
    """The large results of one conversation: a folder with a file for each."""

    folder: Path
    new_id: NewId

    async def keep(self, text: str) -> str:
        """See ``ResultStore``."""
        ref = self.new_id("res")
        await to_the_end(partial(self._write, ref, text.encode()))
        return ref

    def begin(self) -> tuple[str, TextIO]:
        """A new reference, and the file for a text that is still to come. Raises ``OSError``."""
        ref = self.new_id("res")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file(ref), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        return ref, os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="")

    def load(self, ref: str) -> str:
        """Raises ``Refused`` for a reference that names no result of this conversation."""
        try:
            if _REF.fullmatch(ref):
                return self._file(ref).read_text(encoding="utf-8")
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError) as error:
            raise Refused("E_FAILED", f"The stored result {ref} cannot be read: {error}.") from error
        raise Refused(
            "E_NOT_FOUND",
            f"There is no stored result {ref[:80]!r} in this conversation. Use a res_… from a shortened result, "
            "or make the call again.",
        )

    def _write(self, ref: str, data: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(self._file(ref), data)

    def _file(self, ref: str) -> Path:
        return self.folder / f"{ref}.txt"


def load_result(folder: Path, conversation: str, ref: str) -> str:
    """A result of any conversation, for pages. ``folder`` is that of all results. Raises ``Refused``."""
    return StoredResults(folder / conversation, new_id).load(ref)


def result_tools(results: StoredResults) -> dict[str, Tool]:
    """``read_result`` and ``search_result`` for the results of one conversation."""
    return {
        "read_result": HandTool(
            "read_result",
            "Read on in a result that was too large and was shown in part: characters from start (0 is the first) up "
            "to end. A long range comes in pieces: the last line in brackets then says where to go on.",
            schema(
                {"ref": _REF_SCHEMA},
                {"start": {"type": "integer", "minimum": 0}, "end": {"type": "integer", "minimum": 1}},
            ),
            True,
            _looking(partial(read_result, results)),
        ),
        "search_result": HandTool(
            "search_result",
            "Find a text in a result that was too large and was shown in part. Upper and lower case are alike. The "
            "answer names the character where each place begins, for read_result.",
            schema(
                {
                    "ref": _REF_SCHEMA,
                    "pattern": {"type": "string", "minLength": 1, "maxLength": _LONGEST_PATTERN},
                }
            ),
            True,
            _looking(partial(search_result, results)),
        ),
    }


def _looking(
    look: Callable[[Arguments, int, CheckStop], str],
) -> Callable[[Arguments, ToolContext], Awaitable[ToolOutput]]:
    """What it brings fits into a result, with room for what is said beside it, and lies in the store already."""

    async def run(arguments: Arguments, context: ToolContext) -> ToolOutput:
        most = min(_MOST_TOKENS, int(context.most_tokens * _SHARE))
        return ToolOutput(await in_thread(partial(look, arguments, most)), is_kept=True)

    return run


def read_result(results: StoredResults, arguments: Arguments, most: int, check_stop: CheckStop) -> str:
    """At most so many tokens of the text."""
    ref, start = arguments["ref"], arguments.get("start", 0)
    text = results.load(ref)
    end = min(arguments.get("end", len(text)), len(text))
    if start >= end:
        raise Refused(
            "E_BAD_INPUT",
            f"{ref} has {len(text):,} characters, and none from {start:,} to {end:,}. Ask for others.",
        )
    check_stop()
    shown = beginning(text[start:end], most)
    stop = start + len(shown)
    rest = "" if stop == end else f"\n[Cut: go on with start {stop}.]"
    return f"[{ref}: characters {start:,}-{stop:,} of {len(text):,}]\n{shown}{rest}"


def search_result(results: StoredResults, arguments: Arguments, most: int, check_stop: CheckStop) -> str:
    """The pattern is a text, not a regular expression: no text can make that search slow."""
    ref, pattern = arguments["ref"], arguments["pattern"]
    text = results.load(ref)
    lines: list[str] = []
    for place in places(pattern, text, check_stop):
        around = text[max(0, place - _AROUND) : place + 2 * _AROUND]
        line = f"{place}: {' '.join(around.split())}"
        most -= estimate_tokens(line)
        if lines and (most < 0 or len(lines) == _MOST_PLACES):
            lines.append(f"[There are more. The first {len(lines)} are shown: look for a longer text.]")
            break
        lines.append(line)
    named = repr(pattern if len(pattern) <= _AROUND else f"{pattern[:_AROUND]}…")
    if not lines:
        return f"[{named} is not in {ref}, {number_of(len(text), 'character')}.]"
    return "\n".join((f"[{ref}: where {named} begins]", *lines))
