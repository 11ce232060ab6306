"""How a tool call is said in one line: an icon, a verb, what it acts on, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.engine.large_results import find_shortened
from app.web.plain import one_line, plain_output

LINES_SHOWN = 200
CHARACTERS_SHOWN = 8_000
ENDING_LINES = 40
ENDING_CHARACTERS = 2_000
"""Of the end of a result that was shortened for the model."""


@dataclass(frozen=True, slots=True)
class Words:
    icon: str
    verb: str
    target: tuple[str, ...]
    """Arguments that name what it acts on, the most telling first."""
    numbers: Mapping[str, str] = field(default_factory=dict)
    """How a number among them is said."""


_WORDS = {
    "read_file": Words("text", "read", ("path",)),
    "stat_file": Words("file", "look at", ("path",)),
    "list_files": Words("folder", "list", ("path",)),
    "search_files": Words("search", "find", ("glob", "root")),
    "grep_files": Words("search", "grep", ("pattern", "root")),
    "write_file": Words("edit", "write", ("path",)),
    "edit_file": Words("edit", "edit", ("path",)),
    "delete_file": Words("trash", "delete", ("path",)),
    "generate_image": Words("image", "draw", ("path",)),
    "web_fetch": Words("globe", "fetch", ("url",)),
    "web_search": Words("globe", "search the web", ("query",)),
    "read_result": Words(
        "text", "read on", ("ref", "start", "end"), {"start": "from {:,}", "end": "up to {:,}"}
    ),
    "search_result": Words("search", "find in result", ("pattern", "ref")),
    "bash": Words("terminal", "run", ("command",)),
    "job_read": Words("terminal", "look at job", ("job_id",)),
    "job_write": Words("terminal", "type", ("text", "job_id")),
    "job_stop": Words("stop", "stop job", ("job_id",)),
    "dispatch_to": Words("people", "dispatch", ("to", "message")),
    "run_worker": Words("people", "give away", ("to", "task")),
    "hand_off_to": Words("people", "hand over to", ("to", "message")),
    "hand_back": Words("people", "hand back", ("reason",)),
    "set_plan": Words("queue", "set a plan", ("title",)),
    "ask_user": Words("text", "ask you", ("title",)),
    "save_agent": Words("people", "propose an agent", ("name",)),
}

_TROUBLE = {
    "E_STALE": "stale, read again",
    "E_NOT_FOUND": "not found",
    "E_DENIED": "not allowed",
    "E_TIMEOUT": "took too long",
    "E_LOOP": "not run",
    "E_UNCONFINED": "not run",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A long text cut for the page; ``note`` says what is missing, or nothing."""

    text: str
    note: str


def words_for(name: str) -> Words:
    """A tool that is not listed is called by its name."""
    return _WORDS.get(name, Words("box", one_line(name) or "call", ()))


def target_of(name: str, arguments: Mapping[str, Any]) -> str:
    """What the call acts on, in one line; of an unlisted tool its first short argument."""
    return " · ".join(_targets(words_for(name), arguments))


def _targets(words: Words, arguments: Mapping[str, Any]) -> Iterator[str]:
    for key in words.target or tuple(arguments)[:1]:
        match arguments.get(key):
            case None | "":
                pass
            case int(number) if key in words.numbers:
                yield words.numbers[key].format(number)
            case str(command) if key == "command":
                first, _, rest = command.strip().partition("\n")
                yield one_line(first)[:300] + (" …" if rest else "")
            case value:
                if said := one_line(str(value)):
                    yield said[:300]


def trouble_of(code: str | None) -> str:
    """How a failed call is said in two or three words."""
    return _TROUBLE.get(code or "", "failed")


@dataclass(frozen=True, slots=True)
class Output:
    """What a call came to; where it was shortened for the model, ``gap`` says what is left out before ``ending``."""

    shown: Shown
    gap: str = ""
    ending: Shown | None = None


def output_of(result: str) -> Output:
    parts = find_shortened(result)
    if parts is None:
        return Output(cut(result))
    kept = f"all of it is kept as {parts.ref}" if parts.ref else "they could not be kept"
    return Output(
        cut(parts.head), f"{parts.left_out} characters are left out here; {kept}", cut_ending(parts.tail)
    )


def cut_ending(text: str) -> Shown:
    """The last lines of an output."""
    text = plain_output(text)
    lines = text.splitlines()
    shown = "\n".join(lines[-ENDING_LINES:])[-ENDING_CHARACTERS:]
    whole = len(shown) >= len(text.rstrip("\n"))
    return Shown(shown, "" if whole else f"last {shown.count(chr(10)) + 1:,} of {len(lines):,} lines shown")


def cut(text: str, lines_shown: int = LINES_SHOWN, characters_shown: int = CHARACTERS_SHOWN) -> Shown:
    """The beginning of an output, without colours and control characters."""
    text = plain_output(text)
    lines = text.split("\n")
    shown = "\n".join(lines[:lines_shown])[:characters_shown]
    if len(shown) == len(text):
        return Shown(text, "")
    if len(lines) > lines_shown:
        return Shown(shown, f"first {shown.count(chr(10)) + 1:,} of {len(lines):,} lines shown")
    return Shown(shown, f"first {len(shown):,} of {len(text):,} characters shown")
