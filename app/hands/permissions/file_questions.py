"""When a file tool asks: in cautious mode before every change, with the change as it would be made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import ndiff

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.permissions.access import AccessMode, decide
from app.hands.permissions.names import shown
from app.hands.permissions.question import Judgement, Question
from app.hands.permissions.verdict import Finding, about

_MOST_SHOWN = 20_000
"""Characters of a change; of a longer one the beginning is shown, and that it is one."""


_CHANGES = Finding("changes", "", "it changes a file, and access is cautious")


@dataclass(frozen=True, slots=True)
class FileQuestions:
    """See ``Judge``: for the tools whose reach the path check closes anyway."""

    access: AccessMode
    workspace: str

    async def judge(self, call: ToolCall, tool: Tool, rules: Collection[str]) -> Judgement:
        if tool.read_only:
            return None
        decision = decide(self.access, about(_CHANGES), confined=False)
        if decision.kind == "allow":
            return None
        rule = f"{call.name}: {call.arguments.get('path', '')}"
        if rule in rules:
            return None
        return Question(
            "change",
            payload=_change(call),
            reasons=decision.reasons,
            facts=(("File", shown(str(call.arguments.get("path", "")))), ("Folder", self.workspace)),
            rule=rule,
        )


def _change(call: ToolCall) -> str:
    """The change itself, line by line."""
    arguments = call.arguments
    match call.name:
        case "edit_file":
            old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
            lines = (line for line in ndiff(old.splitlines(), new.splitlines()) if line[0] != "?")
            text = "\n".join(line.rstrip() for line in lines)
        case "write_file":
            text = str(arguments.get("content", ""))
        case _:
            text = "\n".join(f"{name}: {value}" for name, value in arguments.items())
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:_MOST_SHOWN]}\n… and {len(text) - _MOST_SHOWN:,} characters more"
