"""Rules of the user: what was allowed or forbidden once and for all. Deny wins, then ask, then allow.

A rule is about one tool. For commands it is the words of one simple command, all of them or the first ones. It is held
against the parsed script: each command of a compound needs a rule of its own or none. A rule that allows never covers
more than it showed: it fits a command as it stands alone in the workspace, and only what was found about the command
that it was made for. For other tools it is the one thing they ask about: a file, a folder, a host.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from app.hands.permissions.access import ALLOWED, AccessMode, Answer, Decision, asks_about, decide
from app.hands.permissions.verdict import Category, Judged, Verdict

COMMANDS = "bash"
"""The tool whose rules are held against parsed commands."""
FOLDERS = "folder"
"""Rules that open a folder beside the workspace, to all tools."""
READING = frozenset[Category]({"outside"})
WRITING = frozenset[Category]({"outside", "destructive"})
"""What a rule about a folder covers."""
WEB = "web"
"""Rules about a host, for whatever goes there."""

LASTING = frozenset[Category]({"changes", "network", "outside", "dotenv", "deletes", "install", "publish"})
"""What a rule may allow. All else is the user's decision each time."""

_BEGINNINGS = (
    (r"git", r"push|fetch|pull", r"[\w.-]+"),
    (r"npm|pnpm|yarn|bun", r"run|run-script", r"[\w:.-]+"),
    (r"make|just|task|rake", r"[\w:.-]+"),
    (r"cargo", r"publish|update|fetch"),
    (r"gh", r"pr|issue|run|repo|release", r"view|list|status|diff|checks"),
)
"""First words that say what is done; what may follow says only to what. Patterns, one a word."""


@dataclass(frozen=True, slots=True)
class Rule:
    answer: Answer
    words: tuple[str, ...]
    exact: bool
    """False: more words may follow."""
    categories: frozenset[Category] = frozenset()
    """What a rule that allows covers."""
    tool: str = COMMANDS

    @property
    def text(self) -> str:
        """As it is shown before it is saved, and in the list."""
        if self.tool == COMMANDS:
            return shlex.join(self.words) + ("" if self.exact else " …")
        if self.tool == FOLDERS:
            return f"{'read and write' if self.categories >= WRITING else 'read'} in {' '.join(self.words)}"
        return f"{self.tool}: {' '.join(self.words) if self.words else 'any'}"

    def fits(self, words: tuple[str, ...] | None) -> bool:
        """Whether it is about these words, by themselves or as the beginning of them."""
        if words is None:
            return False
        return words == self.words if self.exact else words[: len(self.words)] == self.words

    def concerns(self, words: tuple[str, ...] | None) -> bool:
        """As ``fits``, also with the program as a path and with options between: for what forbids or asks."""
        if not words:
            return False
        named = (posixpath.basename(words[0]), *words[1:])
        return self.fits(words) or (not self.exact and _begins(named, self.words))


def apply(rules: Sequence[Rule], verdict: Verdict, mode: AccessMode, *, confined: bool) -> Decision:
    """What happens to a command, once the user's rules are heard."""
    decision = decide(mode, verdict, confined=confined)
    if decision.kind == "deny":
        return decision
    rules = [rule for rule in rules if rule.tool == COMMANDS]
    for answer in ("deny", "ask"):
        named = [
            rule
            for rule in rules
            if rule.answer == answer and any(rule.concerns(c.words) for c in verdict.commands)
        ]
        if named:
            return Decision(answer, tuple(f"There is a rule about {rule.text}." for rule in named))
    open_ones = [c for c in verdict.commands if _asks(c, mode, confined) and not is_covered(c, rules)]
    if not open_ones:
        return ALLOWED
    return decide(mode, Verdict(tuple(open_ones), verdict.length), confined=confined)


def is_covered(command: Judged, rules: Sequence[Rule]) -> bool:
    """Whether a rule allows this very command, and everything that was found about it."""
    found = {finding.category for finding in command.findings}
    return command.plain and any(
        rule.answer == "allow" and rule.fits(command.words) and found <= rule.categories for rule in rules
    )


def open_folders(rules: Sequence[Rule], covers: frozenset[Category]) -> tuple[str, ...]:
    """The folders that are open for reading, or for writing too."""
    return tuple(
        word
        for rule in rules
        if rule.tool == FOLDERS and rule.answer == "allow" and rule.categories >= covers
        for word in rule.words
    )


def find_rule(
    rules: Sequence[Rule], tool: str, thing: str, found: frozenset[Category], answer: Answer = "allow"
) -> Rule | None:
    """The rule of that answer about one thing of a tool: for ``allow`` one that covers all that was found."""
    return next(
        (
            rule
            for rule in rules
            if rule.tool == tool
            and rule.answer == answer
            and rule.fits((thing,))
            and (answer != "allow" or found <= rule.categories)
        ),
        None,
    )


def offers(verdict: Verdict) -> tuple[Rule, ...]:
    """The rules that may be offered beside "allow once", narrowest first; none where none could match again."""
    if len(verdict.commands) != 1 or not verdict.findings:
        return ()
    command = verdict.commands[0]
    found = frozenset(finding.category for finding in command.findings)
    if not command.plain or command.words is None or not found <= LASTING:
        return ()
    exact = Rule("allow", command.words, exact=True, categories=found)
    length = _beginning(command.words)
    if length is None or length == len(command.words):
        return (exact,)
    return exact, Rule("allow", command.words[:length], exact=False, categories=found)


def _beginning(words: tuple[str, ...]) -> int | None:
    for patterns in _BEGINNINGS:
        begins = len(words) >= len(patterns) and all(
            re.fullmatch(pattern, word) for pattern, word in zip(patterns, words, strict=False)
        )
        if begins:
            return len(patterns)
    return None


def _begins(words: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether words begin with what was said, but for options between, each with one word that may be its value."""
    at, before = {0}, ""
    for word in words:
        passed = at if before and (word.startswith("-") or before.startswith("-")) else set[int]()
        at = {place + 1 for place in at if word == said[place]} | passed
        if len(said) in at:
            return True
        before = word
    return False


def _asks(command: Judged, mode: AccessMode, confined: bool) -> bool:
    return any(asks_about(finding, mode, confined=confined) for finding in command.findings)
