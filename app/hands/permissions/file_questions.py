"""When a file tool asks: outside the folders, for files that may hold secrets, before deleting, and what the mode adds.

The path check closes what is closed for ever anyway; here it is found out what the user may open for one call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from pathlib import Path

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.errors import Refused
from app.hands.permissions.access import decide
from app.hands.permissions.closed_places import asks
from app.hands.permissions.names import shown
from app.hands.permissions.paths import PathGate
from app.hands.permissions.permit import Permit
from app.hands.permissions.places import Purpose
from app.hands.permissions.question import Deed, Judgement, Passed, Policy, Question
from app.hands.permissions.rules import FOLDERS, READING, WRITING, Rule, find_rule, open_folders
from app.hands.permissions.verdict import Category, Finding, Judged, Verdict
from app.hands.threads import in_thread

_MOST_SHOWN = 20_000
"""Characters of a change; of a longer one the beginning is shown, and that it is one."""

_DELETES = "delete_file"
_LOOKS_AT_NAMES = ("stat_file", "list_files", "search_files")


@dataclass(frozen=True, slots=True)
class FileQuestions:
    """See ``Judge``."""

    gate: PathGate
    made: Callable[[str], bool]
    """As in ``CommandQuestions``."""

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        return await in_thread(lambda _: self._judge(call, tool, policy))

    def _judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        typed = str(call.arguments.get("path") or call.arguments.get("root") or ".")
        outside = self._outside(typed)
        granted = _granted(outside, policy.rules, READING if tool.read_only else WRITING) if outside else None
        path = outside or self._inside(typed, "delete" if call.name == _DELETES else "stat")
        if path is None:
            return Passed()
        label = self.gate.roots.label(path)
        is_asked_for = outside is not None and granted is None
        findings = tuple(self._findings(call, tool, path, label, is_outside=is_asked_for))
        folder = (granted or _folder_of(path)) if outside else None
        permit = Permit(folders=(folder,) if folder else (), secrets=_has(findings, "dotenv"))
        verdict = Verdict((Judged(None, plain=False, findings=findings),))
        decision = decide(policy.access, verdict, confined=False)
        found = frozenset(finding.category for finding in findings)
        if decision.kind == "allow" or find_rule(policy.rules, call.name, label, found):
            return Passed(permit)
        return Question(
            _deed(call, found),
            payload=_payload(call, label),
            reasons=decision.reasons,
            facts=tuple(self._told(call, label, folder)),
            rules=self._offers(call, label, found, folder if is_asked_for else None),
            permit=permit,
        )

    def _findings(
        self, call: ToolCall, tool: Tool, path: Path, label: str, *, is_outside: bool
    ) -> Iterator[Finding]:
        name = shown(label)
        if is_outside:
            yield Finding("outside" if tool.read_only else "destructive", name, "lies outside the workspace")
        typed = Path(str(call.arguments.get("path") or call.arguments.get("root") or "."))
        if (asks(path.name) or asks(typed.name)) and call.name not in _LOOKS_AT_NAMES and not path.is_dir():
            yield Finding("dotenv", name, "may hold secrets")
        if call.name == _DELETES and not self.made(str(path)):
            yield Finding("deletes", name, "would be deleted, and this conversation did not make it")
        if not tool.read_only:
            yield Finding("changes", "", "it changes a file, and access is cautious")

    def _told(self, call: ToolCall, label: str, folder: Path | None) -> Iterator[tuple[str, str]]:
        yield "File", label
        yield "Folder", str(folder or self.gate.workspace)
        if call.arguments.get("replace_all"):
            yield "Changed", "everywhere it stands in the file"

    def _outside(self, typed: str) -> Path | None:
        """Where a path leads that lies in no open folder, unless it is closed or nothing is there."""
        try:
            with self.gate.find(typed, "stat"):
                return None
        except Refused as refused:
            if refused.code != "E_OUTSIDE":
                return None
        path = Path(os.path.realpath(self.gate.workspace / Path(typed).expanduser()))
        is_closed = self.gate.closed.standing(path) is None
        return None if is_closed or not _folder_of(path).is_dir() else path

    def _inside(self, typed: str, purpose: Purpose) -> Path | None:
        """None where the tool will say itself what is wrong with the path."""
        try:
            with self.gate.find(typed, purpose) as place:
                return place.path
        except Refused as refused:
            if refused.code != "E_NOT_FOUND":
                return None
        return Path(os.path.normpath(self.gate.workspace / Path(typed).expanduser()))

    def _offers(
        self, call: ToolCall, label: str, found: frozenset[Category], folder: Path | None
    ) -> tuple[Rule, ...]:
        """For a folder that is asked for: to open it. Else for the same call on the same file."""
        if folder is None:
            return (Rule("allow", (label,), exact=True, categories=found, tool=call.name),)
        if "dotenv" in found or not self.gate.closed.may_be_granted(folder.resolve()):
            return ()
        covers = READING if found <= READING else WRITING
        return (Rule("allow", (str(folder),), exact=True, categories=covers, tool=FOLDERS),)


def _granted(path: Path, rules: Sequence[Rule], covers: frozenset[Category]) -> Path | None:
    """The folder that a rule opens and in which the path lies."""
    folders = map(Path, open_folders(rules, covers))
    return next((folder for folder in folders if path.is_relative_to(folder)), None)


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _has(findings: Sequence[Finding], category: Category) -> bool:
    return any(finding.category == category for finding in findings)


def _deed(call: ToolCall, found: frozenset[Category]) -> Deed:
    if call.name == _DELETES:
        return "delete"
    if "changes" in found:
        return "change"
    return "folder" if "outside" in found else "read"


def _changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """All of both; ``ndiff`` would take minutes for some hundred lines."""
    lines = unified_diff(old, new, n=len(old) + len(new), lineterm="")
    yield from (f"{line[0]} {line[1:]}".rstrip() for line in islice(lines, 3, None))


def _payload(call: ToolCall, label: str) -> str:
    """The change itself, line by line; for what changes nothing, what is looked at."""
    arguments = call.arguments
    match call.name:
        case "edit_file":
            old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
            text = "\n".join(_changed_lines(old.splitlines(), new.splitlines()))
        case "write_file":
            text = str(arguments.get("content", ""))
        case _:
            text = shown(label)
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:_MOST_SHOWN]}\n… and {len(text) - _MOST_SHOWN:,} characters more"
