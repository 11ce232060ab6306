"""Which tools an agent's file means, in our words and in those of other programs."""

from __future__ import annotations

import pytest

from app.infra.front_matter import Value
from app.workspace.agent_tools import ALL_TOOLS, TOOL_GROUPS, less, read_denied, read_tools

COMMANDS = TOOL_GROUPS["Run commands"]


@pytest.mark.parametrize(
    ("value", "tools", "unknown"),
    [
        (None, None, ()),
        ("*", None, ()),
        (("all",), None, ()),
        ((), (), ()),
        ("", (), ()),
        (("bash", "read_file"), ("read_file", "bash"), ()),
        ("Read, Grep,Glob", ("read_file", "stat_file", "search_files", "grep_files"), ()),
        ("Bash", COMMANDS, ()),
        (("WebFetch", "Task", "mcp__github__search"), ("web_fetch",), ("Task", "mcp__github__search")),
        ("Bash(git *, ls), Edit", ("edit_file",), ("Bash(git *, ls)",)),
        ({"write": "false", "edit": "no"}, less(None, ["write_file", "edit_file"]), ()),
        ({"*": "false", "read": "true", "odd": "true"}, ("read_file", "stat_file"), ("odd",)),
        ({"*": "true"}, None, ()),
        ({"webfetch": "true"}, None, ()),
    ],
)
def test_tools_are_read(value: Value | None, tools: tuple[str, ...] | None, unknown: tuple[str, ...]) -> None:
    assert read_tools(value) == (tools, unknown)


def test_what_is_denied_is_taken_from_what_is_given_or_from_all() -> None:
    assert read_denied("Write, Edit") == ("write_file", "edit_file")
    assert read_denied({"edit": "deny", "bash": "ask"}) == ("edit_file",)
    assert less(("bash", "read_file"), ["bash"]) == ("read_file",)
    assert less((), ["bash"]) == ()
    assert less(None, []) is None
    assert set(ALL_TOOLS) - set(less(None, ["memory"]) or ()) == {"memory"}


@pytest.mark.parametrize("name", ["reader", "bashful", "Read2", "globe"])
def test_a_name_that_only_looks_like_a_tool_is_none(name: str) -> None:
    assert read_tools((name,)) == ((), (name,))
