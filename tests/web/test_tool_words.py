"""A tool call in one line: what it acts on, how it ended, and as much of its output as a page can carry."""

from __future__ import annotations

from typing import Any

import pytest

from app.web.tool_words import CHARACTERS_SHOWN, LINES_SHOWN, cut, target_of, trouble_of, words_for

TARGETS: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "src/a.py", "range": {"unit": "line"}}, "src/a.py"),
    ("grep_files", {"pattern": "http.get", "root": "src/"}, "http.get · src/"),
    ("grep_files", {"pattern": "http.get"}, "http.get"),
    ("read_file", {}, ""),
    ("read_file", {"path": None}, ""),
    ("read_file", {"path": "a\nb\u202ec"}, "a b\ufffdc"),
    ("read_file", {"path": "x" * 1000}, "x" * 300),
    ("of_a_connector", {"query": "tides", "limit": 3}, "tides"),
    ("of_a_connector", {"limit": 0}, "0"),
]


@pytest.mark.parametrize(("name", "arguments", "target"), TARGETS)
def test_a_call_names_what_it_acts_on(name: str, arguments: dict[str, Any], target: str) -> None:
    assert target_of(name, arguments) == target


def test_a_tool_of_somebody_else_is_called_by_its_name() -> None:
    assert words_for("search_issues\n").verb == "search_issues"
    assert words_for("").verb == "call"


def test_a_failure_is_said_in_words() -> None:
    assert trouble_of("E_STALE") == "stale, read again"
    assert trouble_of("E_OF_LATER") == trouble_of(None) == "failed"


def test_a_long_output_is_cut_and_says_so() -> None:
    lines = cut("line\n" * 1000)
    assert lines.text.count("\n") == LINES_SHOWN - 1
    assert lines.note == "first 200 of 1,001 lines shown"
    wide = cut("x" * 20_000)
    assert len(wide.text) == CHARACTERS_SHOWN
    assert wide.note == "first 8,000 of 20,000 characters shown"
    assert cut("short\n").note == ""


def test_an_output_is_cut_after_its_colours_are_gone() -> None:
    coloured = "\x1b[31mx\x1b[0m" * CHARACTERS_SHOWN
    assert cut(coloured).text == "x" * CHARACTERS_SHOWN
