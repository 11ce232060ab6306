"""What is thought of an act: findings, each about one part of it, and the worst of them.

A verdict is the same kind of value for a command and for a file tool, so one table of access modes serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from app.hands.permissions.names import shown

Category = Literal[
    "safe",
    "changes",
    "network",
    "outside",
    "dotenv",
    "deletes",
    "install",
    "publish",
    "opaque",
    "sensitive",
    "exfiltration",
    "destructive",
    "privilege",
]
"""From harmless to worst. ``changes`` is the everyday work in the workspace: it writes, builds, tests."""

_RANK = {category: rank for rank, category in enumerate(get_args(Category))}
_LONGEST_PART = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that an act would do."""

    category: Category
    part: str
    """The piece of the act that does it, as it was written."""
    what: str
    """Goes on after the part: ``deletes …``."""
    never: bool = False
    """True where no mode and no rule allows it."""
    unread: bool = False
    """True where it could not even be taken apart, so that anything may hide in it."""
    changes: str = ""
    """A path outside the workspace that it would write or delete: it has to be opened for that."""

    @property
    def sentence(self) -> str:
        """For a dialog; signs that do not show are written out."""
        part = shown(self.part.strip())
        short = part if len(part) <= _LONGEST_PART else f"{part[: _LONGEST_PART - 1]}…"
        return f"{short} {self.what}." if short else f"{self.what[:1].upper()}{self.what[1:]}."


@dataclass(frozen=True, slots=True)
class Judged:
    """One simple command with what was found about it."""

    words: tuple[str, ...] | None
    """Its words, program first; None where one of them is only known when it runs."""
    plain: bool
    """True where the words are all there is: nothing redirected, assigned, expanded, wrapped or run elsewhere."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``length`` is that of the act in characters; with the category it is all that a log may hold."""

    commands: tuple[Judged, ...]
    length: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The worst first, each once."""
        found = dict.fromkeys(finding for command in self.commands for finding in command.findings)
        return tuple(sorted(found, key=lambda finding: (not finding.never, -_RANK[finding.category])))

    @property
    def category(self) -> Category:
        return max((f.category for f in self.findings), key=_RANK.__getitem__, default="safe")

    @property
    def is_opaque(self) -> bool:
        """Whether something of it is code that nobody can look into."""
        return any(finding.category == "opaque" for finding in self.findings)

    @property
    def is_safe(self) -> bool:
        """Whether it stays within the everyday work in the workspace."""
        return _RANK[self.category] <= _RANK["changes"]

    @property
    def for_log(self) -> str:
        return f"{self.category}, {self.length} characters"


def about(finding: Finding) -> Verdict:
    """The verdict on an act that is one thing, such as a file tool's."""
    return Verdict((Judged(None, plain=False, findings=(finding,)),))
