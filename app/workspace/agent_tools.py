"""The tools that an agent can be given by name, and the names that other programs have for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from app.infra.front_matter import Value

TOOL_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Look at files": ("read_file", "stat_file", "list_files", "search_files", "grep_files"),
    "Change files": ("write_file", "edit_file", "delete_file"),
    "Run commands": ("bash", "job_read", "job_write", "job_stop"),
    "The web": ("web_fetch", "web_search"),
    "Pictures": ("generate_image",),
    "Knowledge": ("knowledge_search", "knowledge_read", "knowledge_list"),
    "Memory": ("memory",),
    "Skills": ("skill", "run_skill", "save_skill"),
    "Connectors": ("list_connector_tools", "call_connector_tool"),
    "The user": ("ask_user",),
}
"""By what they are for. Reading on in large results comes with every tool, the tools to dispatch are Commander's."""

OFFERED: Mapping[str, tuple[str, ...]] = {
    group: names
    for group, names in TOOL_GROUPS.items()
    if group not in ("Knowledge", "Memory", "Skills", "Connectors")
}
"""Those that can be used now. A file may name the others, which stay in it."""

ALL_TOOLS = tuple(name for group in TOOL_GROUPS.values() for name in group)

READING_TOOLS = (*TOOL_GROUPS["Look at files"], *TOOL_GROUPS["The web"], *TOOL_GROUPS["Knowledge"])

_BASH = TOOL_GROUPS["Run commands"]
_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "read": ("read_file", "stat_file"),
    "write": ("write_file",),
    "edit": ("edit_file",),
    "multiedit": ("edit_file",),
    "notebookedit": ("edit_file",),
    "patch": ("edit_file",),
    "glob": ("search_files",),
    "grep": ("grep_files",),
    "ls": ("list_files", "stat_file"),
    "list": ("list_files", "stat_file"),
    "bash": _BASH,
    "shell": _BASH,
    "bashoutput": ("job_read",),
    "killshell": ("job_stop",),
    "killbash": ("job_stop",),
    "webfetch": ("web_fetch",),
    "websearch": ("web_search",),
    "skill": ("skill", "run_skill"),
    "askuserquestion": ("ask_user",),
    "question": ("ask_user",),
}
"""In agent files of other programs, in small letters."""

_NAME = re.compile(r"[^,()\s]+(?:\([^)]*\)?)?")
_EVERYTHING = {"*", "all", "inherit"}
_NO = {"false", "no", "off", "deny"}


def read_tools(value: Value | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The tools that ``value`` stands for, None for all, and the names in it that mean nothing here.

    It is a list, a line with commas, or says of names whether they are allowed.
    """
    if isinstance(value, Mapping):
        refused = read_denied(value)
        given = [name for name, word in value.items() if word.lower() not in _NO]
        if value.get("*", "").lower() not in _NO:
            return (None if not refused else less(None, refused)), _unknown(value)
        return known_tools(given), _unknown(given)
    names = _names(value)
    if value is None or _EVERYTHING & {name.lower() for name in names}:
        return None, ()
    return known_tools(names), _unknown(names)


def read_denied(value: Value | None) -> tuple[str, ...]:
    """The tools that ``value`` takes away: those that it lists, or those of which it says no."""
    if isinstance(value, Mapping):
        return known_tools(name for name, word in value.items() if word.lower() in _NO)
    return known_tools(_names(value))


def less(tools: tuple[str, ...] | None, denied: Iterable[str]) -> tuple[str, ...] | None:
    """``tools`` without ``denied``; where nothing is denied, None stays all."""
    gone = set(denied)
    if not gone:
        return tools
    return tuple(name for name in (ALL_TOOLS if tools is None else tools) if name not in gone)


def known_tools(names: Iterable[str]) -> tuple[str, ...]:
    """Our tools of these names, each once, in the order of the groups."""
    meant = {tool for name in names for tool in _meaning(name)}
    return tuple(tool for tool in ALL_TOOLS if tool in meant)


def _names(value: str | tuple[str, ...] | None) -> list[str]:
    return _NAME.findall(value) if isinstance(value, str) else list(value or ())


def _meaning(name: str) -> tuple[str, ...]:
    """One with a pattern in brackets allows less than the tool, so it is not taken for the tool."""
    return (name,) if name in ALL_TOOLS else _ELSEWHERE.get(name.lower(), ())


def _unknown(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name != "*" and not _meaning(name))
