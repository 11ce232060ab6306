"""What has been found about one script so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.hands.permissions.verdict import Finding, Judged

MOST_COMMANDS = 300
DEEPEST = 12
"""Scripts in scripts and commands in commands: ``sh -c``, ``eval``, ``env``, ``xargs``."""


@dataclass(slots=True)
class Record:
    judged: list[Judged] = field(default_factory=list)
    loose: list[Finding] = field(default_factory=list)
    """Findings about no single command yet."""
    unknown_code: list[str] = field(default_factory=list)
    """Commands that run code of which nothing is known."""
    functions: dict[str, set[str]] = field(default_factory=dict)
    """What each function of the script runs."""
    sources: dict[str, str] = field(default_factory=dict)
    """The text of each function."""
    defining: list[str] = field(default_factory=list)
    """The functions whose bodies are being looked at."""
    depth: int = 0

    def add(self, *findings: Finding) -> None:
        self.loose.extend(findings)

    def is_too_deep(self, part: str) -> bool:
        """Whether to go no further; what is not looked at is never allowed."""
        if self.depth < DEEPEST:
            return False
        self.add(Finding("opaque", part, "is nested too deeply to be understood", never=True))
        return True

    def define(self, name: str, source: str) -> None:
        self.functions.setdefault(name, set())
        self.sources[name] = source

    def note_call(self, name: str) -> None:
        if self.defining:
            self.functions[self.defining[-1]].add(name)

    def finish(self) -> Iterator[Judged]:
        """All commands, and last what belongs to none of them."""
        yield from self.judged
        loose = [*self.loose, *self._endless(), *self._fetched(), *self._too_many()]
        if loose:
            yield Judged(None, plain=False, findings=tuple(loose))

    def _endless(self) -> Iterator[Finding]:
        """Functions that run themselves, directly or by way of each other."""
        for name, source in self.sources.items():
            if name in self._run_by(name):
                forks = "|" in source or "&" in source
                what = "starts itself over and over" if forks else "runs itself, and how often is not known"
                yield Finding("destructive" if forks else "opaque", source, what, never=forks)

    def _run_by(self, name: str) -> set[str]:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            ahead = self.functions.get(waiting.pop(), set()) - seen
            seen |= ahead
            waiting.extend(ahead)
        return seen

    def _fetched(self) -> Iterator[Finding]:
        reaches_out = any(
            finding.category in ("network", "exfiltration")
            for each in self.judged
            for finding in each.findings
        )
        if reaches_out and self.unknown_code:
            yield Finding("exfiltration", self.unknown_code[0], "runs what may come from another machine")

    def _too_many(self) -> Iterator[Finding]:
        if len(self.judged) > MOST_COMMANDS:
            yield Finding("opaque", "", f"has more than {MOST_COMMANDS} commands in it", never=True)
