"""What a model is told of a command beside its output, and the way back to the facts in it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from app.hands.executor import Ended


@dataclass(frozen=True, slots=True)
class Told:
    """The result of a call of ``bash``, taken apart for people."""

    trouble: str
    """What went wrong, with its code; nothing where the command came to its own end."""
    how: str
    """``Exit code 1``, ``Killed by SIGTERM``, ``Ended``; nothing for one that runs in the background."""
    code: int | None
    folder: str
    left: str
    """What was said of programs that it left running, or nothing."""
    job: str
    """The background job that it became, or nothing."""
    output: str


_ENDED = re.compile(
    r"(?:(E_[A-Z]+: [^\n]*)\n)?"
    r"\[(Exit code (\d+)|Killed by [\w ]+?|Ended) after [\d.]+ s, in ([^\n]*?)\."
    r"(?: ((?:A program|\d+ programs) it had left running \w+ ended\.))?\](?:\n|\Z)"
)
_BEGUN = re.compile(r"\[(job_\w+) runs in the background, in ([^\n]*?)\. job_read [^\n]*\]\Z")


def in_words(ended: Ended, folder: object) -> str:
    """``[Exit code 0 after 1.2 s, in /folder.]``"""
    return f"[{how_it_ended(ended)}, in {folder}.{_left_running(ended)}]"


def how_it_ended(ended: Ended) -> str:
    """``Exit code 0 after 1.2 s``, or what ended it."""
    after = f"after {ended.seconds:.1f} s"
    if ended.how != "exit":
        return f"Ended {after}"
    if ended.signal is not None:
        return f"Killed by {_name_of(ended.signal)} {after}"
    return f"Exit code {ended.code} {after}"


def in_background(job: str, folder: object) -> str:
    return (
        f"[{job} runs in the background, in {folder}. job_read shows what it writes, job_write sends it input, "
        "job_stop ends it.]"
    )


def find_told(result: str) -> Told | None:
    """None for a call that was refused, and for every other text."""
    if found := _ENDED.match(result):
        trouble, how, code, folder, left = found.groups(default="")
        return Told(trouble, how, int(code) if code else None, folder, left, "", result[found.end() :])
    if found := _BEGUN.match(result):
        return Told("", "", None, found[2], "", found[1], "")
    return None


def _left_running(ended: Ended) -> str:
    if not ended.left:
        return ""
    programs = "A program" if ended.left == 1 else f"{ended.left} programs"
    return f" {programs} it had left running {'was' if ended.left == 1 else 'were'} ended."


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
